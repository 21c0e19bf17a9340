/** The result of one check of `gateway doctor`. Spec: G18.2. */
export interface Check {
  readonly name: 'config' | 'storage' | 'route_wiring' | 'auth_posture' | 'plans';
  /** `skip`: not run, because an earlier check failed. */
  readonly status: 'pass' | 'warn' | 'fail' | 'skip';
  /** One sentence. */
  readonly summary: string;
  readonly details: readonly string[];
}

/** Makes results of the check `name`, whose details begin with `known`. */
export function resultOf(name: Check['name'], known: readonly string[] = []) {
  return (status: Check['status'], summary: string, more: readonly string[] = []): Check => {
    return { name, status, summary, details: [...known, ...more] };
  };
}

/** The worst status of all checks: `fail`, else `warn`, else `pass`. */
export function overallStatus(checks: readonly Check[]): 'pass' | 'warn' | 'fail' {
  if (checks.some(({ status }) => status === 'fail')) return 'fail';
  return checks.some(({ status }) => status === 'warn') ? 'warn' : 'pass';
}
