const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a duration in a custom resource or an option of a command, such as `250ms`, `3s`, `1.5m` or `1h`. Undefined for anything other
 *  than one number and one unit, or for fractions of milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  const exact = Number(amount) * (UNITS_MS[unit] ?? 0);
  const whole = Math.round(exact);
  // 4.35 s is 4349.999... ms in binary.
  return Number.isSafeInteger(whole) && Math.abs(exact - whole) < 1e-6 ? whole : undefined;
}
