import type { FaultStatuses } from '@vitrine/http-api/send-fault';

/** Every code has a heading in docs/failure-modes.md. A key of the configuration file is changed in that file; denials are logged as such, and
 *  failed key refreshes by the refresh. Spec: G15.1 to G15.6. */
export const FAULT_STATUSES: FaultStatuses = {
  statuses: {
    unauthorized: 401,
    forbidden: 403,
    origin_not_allowed: 403,
    key_verification_unavailable: 503,
    gateway_key_not_found: 404,
    gateway_key_exists: 409,
    gateway_key_token_exists: 409,
    gateway_key_managed: 409,
    gateway_keys_full: 409,
    gateway_keys_read_only: 501,
    key_store_unavailable: 503,
    pepper_mismatch: 503,
    pepper_unusable: 503,
    too_many_groups: 400,
    trace_not_found: 404,
    checkpoint_not_found: 404,
    foreign_checkpoint: 400,
    last_checkpoint: 400,
    trace_store_unavailable: 503,
  },
  expected: ['gateway_keys_read_only', 'key_verification_unavailable'],
  replaced: { pepper_unusable: 'the pepper of gateway keys cannot be used; the log of the gateway names its file' },
};
