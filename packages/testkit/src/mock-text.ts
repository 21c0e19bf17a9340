import type { Scenario } from './scenario.ts';

/** Two, three and four byte sequences in every round, so that a reader that cuts inside one is detected. */
const WORDS = ['The ', 'größte ', 'Schaufenster ', '展示窗 ', 'glänzt ✨😀 '];
const DEFAULT_CHUNKS = 5;
const HUGE_LINE_BYTES = 2_200_000;

/** How many content chunks the response has; Infinity when it is endless. */
export function chunkCount(scenario: Scenario): number {
  return scenario.has('endless') ? Infinity : (scenario.get('chunks') ?? DEFAULT_CHUNKS);
}

/** The chunk after which an `error-in-stream` comes; Infinity when none does. */
export function errorAfter(scenario: Scenario): number {
  return scenario.has('error-in-stream') ? Math.floor((scenario.get('chunks') ?? DEFAULT_CHUNKS) / 2) : Infinity;
}

/** The text of the content chunk number `index`. */
function chunkText(scenario: Scenario, index: number): string {
  const bytes = scenario.get('chunk-bytes');
  if (bytes === undefined) return WORDS[index % WORDS.length] ?? '';
  return 'vitrine '.repeat(Math.ceil(bytes / 8)).slice(0, bytes);
}

/** The content chunks of a stream, including the huge one if requested; ends early before an error. */
export function* streamedChunks(scenario: Scenario): Generator<string> {
  const end = Math.min(chunkCount(scenario), errorAfter(scenario));
  for (let index = 0; index < end; index++) {
    yield index === 0 && scenario.has('huge-line') ? 'x'.repeat(HUGE_LINE_BYTES) : chunkText(scenario, index);
  }
}

/** The whole text of a JSON response, and of the last events of a stream. */
export function wholeText(scenario: Scenario): string {
  const chunks = scenario.has('endless') ? 0 : chunkCount(scenario);
  return Array.from({ length: chunks }, (_, index) => chunkText(scenario, index)).join('');
}
