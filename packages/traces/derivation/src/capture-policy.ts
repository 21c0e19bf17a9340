import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';

/** How bodies and secrets are treated before they are stored. */
export interface CapturePolicy {
  readonly captureBodies: boolean;
  readonly bodyMaxSize: number;
  readonly privacy: PrivacyRules;
}
