import type { ForeignBytesCase } from './foreign-bytes-case.ts';
import { gatewayCases } from './gateway.cases.ts';
import { privacyCases } from './privacy.cases.ts';
import { storeCases } from './store.cases.ts';
import { traceCases } from './trace.cases.ts';

/** Every function that reads bytes of clients, providers, storefronts and brokers. Tidy compares this list with what is exported. */
export const FOREIGN_BYTES: readonly ForeignBytesCase[] = [...privacyCases, ...traceCases, ...gatewayCases, ...storeCases];

/** Functions with such a name that read no foreign bytes, and their input. */
export const OWN_BYTES: Readonly<Record<string, string>> = {
  'packages/platform/config/src/durations.ts#parseDuration': 'the configuration',
  'packages/platform/telemetry/src/config/otlp-endpoint.ts#parseEndpoint': 'the configuration',
  'packages/traces/derivation/src/price-override.ts#parsePriceOverride': 'a file of the operator',
  'packages/platform/http-api/src/server/request-error.ts#requestError': 'an event of the parser',
};
