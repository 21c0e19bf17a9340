/** Suffixes that the text formats require in a name. Spec: OpenTelemetry, Prometheus and OpenMetrics Compatibility. */
const UNIT_WORDS: Readonly<Record<string, string>> = { s: 'seconds', ms: 'milliseconds', By: 'bytes' };

/** A metric's name in the scrape: dots become underscores, a unit appears once, a counter ends with `_total` and a plain ratio with
 *  `_ratio`. Equals the name from an OpenTelemetry Collector for the same metric. Spec: G14.26. */
export function scrapeName(name: string, unit: string, kind: 'counter' | 'gauge' | 'histogram'): string {
  const word = unit === '1' && kind === 'gauge' ? 'ratio' : UNIT_WORDS[unit];
  const plain = labelName(name).replace(/_total$/, '');
  const united = word === undefined || plain.endsWith(`_${word}`) ? plain : `${plain}_${word}`;
  return kind === 'counter' ? `${united}_total` : united;
}

/** An attribute's name as a label. */
export function labelName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_');
}
