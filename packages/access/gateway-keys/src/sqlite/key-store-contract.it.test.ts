import { describe } from '@jest/globals';
import { testAuditLog, testAuditPages } from '../testing/audit-log-contract.ts';
import { testKeyStore, testTenantIsolation } from '../testing/key-store-contract.ts';
import { testKeyStoreFailures } from '../testing/key-store-failures.ts';
import { testPeppers } from '../testing/pepper-contract.ts';
import { openFailingPlace, openMemoryPlace, openThreadedPlace } from './testing/sqlite-key-place.ts';

describe('the SQLite key store on its worker thread', () => {
  testKeyStore(openThreadedPlace);
  testPeppers(openThreadedPlace);
  testAuditLog(openThreadedPlace);
});

describe('the SQLite key store in memory', () => {
  testTenantIsolation(openMemoryPlace, 100);
  testAuditPages(openMemoryPlace, 100);
});

describe('the SQLite key store with failing statements', () => testKeyStoreFailures(openFailingPlace));
