/** The request header that selects the behaviour of a mock provider: `name[=arg][,name2[=arg]]`. A header, because every SDK can set one. */
export const SCENARIO_HEADER = 'x-mock-scenario';

interface ScenarioRow {
  /** What the mock does; `N` is the argument. */
  readonly does: string;
  /** The smallest and the largest argument; a row without it takes none. */
  readonly argument?: readonly [number, number];
}

/** Every scenario there is. They can be combined. If two contradict each other, the first one listed here wins.
 *  A content chunk is one part of the response's text in a stream, or 64 KiB of `bytes`, or one read of `echo`. */
export const SCENARIOS = {
  // Instead of the provider's response, on any path, with or without a credential:
  reset: { does: 'resets the connection before any response' },
  early: { does: 'responds with 200 and JSON before the request body is read, then drains the body' },
  echo: { does: 'returns the request body unchanged with its content type, while it arrives' },
  status: { does: 'responds with status N and error JSON; 429, 503 and 529 carry retry-after: 1', argument: [400, 599] },
  redirect: { does: 'responds with 302 to /v1/redirected' },
  bytes: {
    does: 'responds with N pseudo-random bytes (pseudo-random-bytes.ts) as application/octet-stream',
    argument: [0, 2 ** 30],
  },
  // Content of the provider's response:
  chunks: { does: 'the text has N content chunks (5 when not given)', argument: [0, 1_000_000] },
  'chunk-bytes': { does: 'each content chunk has N bytes of text', argument: [1, 2 ** 23] },
  endless: { does: 'sends content chunks for ever (JSON: white space) until the client leaves, at the pace it reads' },
  'huge-line': { does: 'the first content chunk of a stream is one data line of more than 2 MB' },
  'no-usage': { does: 'no usage anywhere' },
  'error-in-stream': { does: 'a stream with status 200 ends with an error after half of its content chunks' },
  // How it is written:
  slow: { does: 'waits N ms before the headers', argument: [0, 3_600_000] },
  stall: { does: 'headers and the first content chunk (JSON: half the body), then nothing for ever' },
  cut: { does: 'destroys the socket after N content chunks (JSON: after half the body)', argument: [0, 1_000_000] },
  crlf: { does: 'event streams with CRLF line ends' },
  'bad-gzip': { does: 'says content-encoding: gzip and sends garbage' },
  gzip: { does: 'compresses the body if the client accepts gzip; every chunk is flushed' },
  br: { does: 'the same with br' },
  zstd: { does: 'the same with zstd' },
  deflate: { does: 'the same with deflate (zlib format)' },
  split: { does: 'writes in chunks cut inside UTF-8 sequences, CRLF, blank lines and `data:`' },
} as const satisfies Record<string, ScenarioRow>;

type ScenarioName = keyof typeof SCENARIOS;
/** The requested scenarios with their arguments; 1 where there is no argument. */
export type Scenario = ReadonlyMap<ScenarioName, number>;

/** How much text one response may hold: Responses repeat the whole text at the end, so it has to fit in memory. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Reads the header's value; a string is an error message. */
export function parseScenario(header: string | undefined): Scenario | string {
  const scenario = new Map<ScenarioName, number>();
  for (const part of (header ?? '').split(',').map((part) => part.trim())) {
    if (part === '') continue;
    const [name = '', ...rest] = part.split('=');
    if (!isScenarioName(name)) return `${SCENARIO_HEADER}: no scenario is called ${JSON.stringify(name)}`;
    const row: ScenarioRow = SCENARIOS[name];
    const value = readArgument(row, rest.join('='));
    if (value === undefined) return `${SCENARIO_HEADER}: ${name} takes ${describeArgument(row)}`;
    scenario.set(name, value);
  }
  if ((scenario.get('chunks') ?? 0) * (scenario.get('chunk-bytes') ?? 0) > MAX_TEXT_BYTES) {
    return `${SCENARIO_HEADER}: chunks times chunk-bytes may not exceed ${MAX_TEXT_BYTES}`;
  }
  return scenario;
}

function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(SCENARIOS, name);
}

function readArgument({ argument }: ScenarioRow, text: string): number | undefined {
  if (argument === undefined) return text === '' ? 1 : undefined;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  return value >= argument[0] && value <= argument[1] ? value : undefined;
}

function describeArgument({ argument }: ScenarioRow): string {
  return argument === undefined ? 'no argument' : `a whole number from ${argument[0]} to ${argument[1]}`;
}
