import { afterAll, beforeAll, describe } from '@jest/globals';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { testAuditLog, testAuditPages } from '../testing/audit-log-contract.ts';
import { testKeyStore, testTenantIsolation } from '../testing/key-store-contract.ts';
import { testKeyStoreFailures } from '../testing/key-store-failures.ts';
import { testPeppers } from '../testing/pepper-contract.ts';
import { openPostgresPlace } from './testing/postgres-key-place.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await templateDatabase();
});
afterAll(async () => database[Symbol.asyncDispose]());

describe('the Postgres key store, with the rights of a gateway', () => {
  testKeyStore((bounds) => openPostgresPlace(database, bounds));
  testPeppers(() => openPostgresPlace(database));
  testAuditLog((bounds) => openPostgresPlace(database, bounds));
  testTenantIsolation(() => openPostgresPlace(database), 30);
  testAuditPages(() => openPostgresPlace(database), 100);
});

describe('the Postgres key store with failing statements', () => {
  testKeyStoreFailures((failures) => openPostgresPlace(database, {}, failures));
});
