import { setTimeout as sleep } from 'node:timers/promises';

const SETTLED_WITHIN_MS = 20_000;
/** Longer than the gateway may still wait for a client or a provider: an exchange that is under way is counted when it ends. */
const STABLE_MS = 2_500;
const POLL_MS = 100;

interface Pipeline {
  readonly queue_depth: number;
  readonly enqueue_accepted_total: number;
  readonly total_dropped_total: number;
  readonly written_total: number;
}

/** What a gateway's trace pipeline counts. */
export interface TraceCounts {
  readonly accepted: number;
  readonly dropped: number;
  readonly written: number;
}

/** Waits until the queue is empty and nothing has arrived for 2.5 s. A gateway that does not reach this state is reported by its counts. */
export async function settledCounts(url: string): Promise<TraceCounts> {
  let last = -1;
  let since = performance.now();
  for (const end = since + SETTLED_WITHIN_MS; ; await sleep(POLL_MS)) {
    const { diagnostics } = (await getJson(`${url}/api/diagnostics/trace-pipeline`)) as { diagnostics: Pipeline };
    const {
      queue_depth: depth,
      enqueue_accepted_total: accepted,
      total_dropped_total: dropped,
      written_total: written,
    } = diagnostics;
    const now = performance.now();
    if (depth > 0 || accepted !== last) since = now;
    if (now - since >= STABLE_MS || now > end) return { accepted, dropped, written };
    last = accepted;
  }
}

/** How many of the newest `count` traces have which path and outcome. */
export async function storedPaths(url: string, count: number): Promise<Map<string, string[]>> {
  const outcomes = new Map<string, string[]>();
  let cursor = '';
  for (let left = count; left > 0;) {
    const page = (await getJson(`${url}/api/traces?limit=${Math.min(left, 200)}${cursor}`)) as {
      readonly items: readonly { readonly request_path: string; readonly outcome: string }[];
      readonly next_cursor?: string;
    };
    for (const { request_path: path, outcome } of page.items) {
      const of = outcomes.get(path) ?? [];
      of.push(outcome);
      outcomes.set(path, of);
    }
    left -= page.items.length;
    if (page.next_cursor === undefined) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  return outcomes;
}

async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(SETTLED_WITHIN_MS) });
  if (!response.ok) throw new Error(`${url}: status ${response.status}: ${await response.text()}`);
  return response.json();
}
