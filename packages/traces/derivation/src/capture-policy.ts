import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';

/** How bodies and secrets are treated on their way into the store. */
export interface CapturePolicy {
  readonly captureBodies: boolean;
  readonly bodyMaxSize: number;
  readonly privacy: PrivacyRules;
}
