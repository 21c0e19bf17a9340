/** A denial or a change of a key. Spec: G17.2. */
export interface AuditEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** A key's id, `operator`, `system`, or '' for an unknown caller. */
  readonly actor: string;
  /** `request` of something that needs a permission, or `gateway_key.create`, `gateway_key.rotate`, `gateway_key.revoke`. */
  readonly action: string;
  /** The key's id, or the method and path of the request. */
  readonly target: string;
  readonly outcome: 'allow' | 'deny';
  /** The code of a denial; '' when allowed. */
  readonly reason: string;
  readonly correlation_id: string;
  readonly org_id: string;
  readonly workspace_id: string;
}
