/** What is remembered of a denial or of a change of a key. Spec: gateway decisions, section 6 (kept 365 days). */
export interface AuditEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** A key's id, `operator`, `system`, or '' when nobody is known. */
  readonly actor: string;
  /** `request` of something that needs a permission, or `gateway_key.create`, `gateway_key.rotate`, `gateway_key.revoke`. */
  readonly action: string;
  /** The key's id, or the method and path of the request. */
  readonly target: string;
  readonly outcome: 'allow' | 'deny';
  /** Why it was denied, as a code; '' when it was not. */
  readonly reason: string;
  readonly correlation_id: string;
  readonly org_id: string;
  readonly workspace_id: string;
}
