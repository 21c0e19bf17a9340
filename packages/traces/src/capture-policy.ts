import type { PrivacyRules } from './privacy/privacy-rules.ts';

/** How bodies and secrets are treated on their way into the store. */
export interface CapturePolicy {
  readonly captureBodies: boolean;
  readonly bodyMaxSize: number;
  readonly privacy: PrivacyRules;
}
