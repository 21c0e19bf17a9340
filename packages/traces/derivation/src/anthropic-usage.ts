import { mergedCounts, NO_TOKENS, sumOf, type CallUsage, type TokenCounts } from './token-counts.ts';
import { countOf, fieldsOf, isFields, isNoCount, type Fields } from './usage-report.ts';

/** The calls in a usage object of Anthropic, whose input excludes cache reads and writes. `iterations` lists every call of a request that called
 *  more than one model or compacted its context; the totals contain only some of them. Undefined without any count. `asksForHour`: whether the
 *  request asks to keep the cache for an hour. Spec: G11.7. */
export function anthropicUsage(fields: Fields, asksForHour: () => boolean): CallUsage[] | undefined {
  const totals = callUsage(fields, asksForHour);
  const { iterations } = fields;
  if (totals === undefined || iterations === undefined || iterations === null) return totals && [totals];
  if (!Array.isArray(iterations)) return [{ ...totals, isDoubtful: true }];
  const calls = (iterations as unknown[]).map((one) => iterationOf(one, asksForHour));
  const read = calls.filter((one) => one !== undefined);
  if (read.length === 0) return [{ ...totals, isDoubtful: totals.isDoubtful || calls.length > 0 }];
  return withoutContradiction(totals, read).map((call) => ({
    ...call,
    isDoubtful: call.isDoubtful || read.length < calls.length,
  }));
}

interface Iteration extends CallUsage {
  readonly type: string;
}

/** Calls that are in no total: before the message, or of another model. */
const EXTRA = ['compaction', 'advisor_message'];
const KNOWN = [...EXTRA, 'message', 'fallback_message'];

function iterationOf(entry: unknown, asksForHour: () => boolean): Iteration | undefined {
  const fields = fieldsOf(entry);
  const call = callUsage(fields, asksForHour);
  const { type, model } = fields;
  if (call === undefined || typeof type !== 'string') return undefined;
  const named = { ...call, type, model: typeof model === 'string' ? model : undefined };
  // It is unknown whether such a call is charged.
  return KNOWN.includes(type) ? named : { ...named, least: NO_TOKENS, isDoubtful: true };
}

/** The calls of the list. If those that the totals contain do not add up to these, the totals and the list are the bounds. */
function withoutContradiction(totals: CallUsage, iterations: readonly Iteration[]): CallUsage[] {
  const served = iterations.some(({ type }) => type === 'fallback_message') ? 'fallback_message' : 'message';
  const inTotals = iterations.filter(({ type }) => type === served);
  const others = iterations.filter(({ type }) => type !== served);
  if (inTotals.length === 0) return isEmpty(totals.shown) ? others : [...others, totals];
  const listed = sumOf(inTotals, ({ shown }) => shown);
  if (isSame(listed, totals.shown)) return [...others, ...inTotals.map((call) => withReasoning(call, totals, inTotals[0]))];
  return [
    ...others,
    {
      shown: listed,
      reasoning: totals.reasoning,
      least: mergedCounts(listed, totals.shown, Math.min),
      most: mergedCounts(listed, totals.shown, Math.max),
      isDoubtful: true,
    },
  ];
}

/** Only the totals break the output down. */
function withReasoning(call: CallUsage, totals: CallUsage, first: CallUsage | undefined): CallUsage {
  return call === first ? { ...call, reasoning: totals.reasoning } : call;
}

function isEmpty({ input, output }: TokenCounts): boolean {
  return input === 0 && output === 0;
}

/** The parts of the writes may be missing in the totals. */
function isSame(left: TokenCounts, right: TokenCounts): boolean {
  return (['input', 'output', 'cached', 'cacheWrite'] as const).every((name) => left[name] === right[name]);
}

function callUsage(fields: Fields, asksForHour: () => boolean): CallUsage | undefined {
  const fresh = countOf(fields['input_tokens']);
  const output = countOf(fields['output_tokens']);
  if (fresh === undefined && output === undefined) return undefined;
  if (isNoCount(fields['input_tokens']) || isNoCount(fields['output_tokens'])) return undefined;
  const cached = countOf(fields['cache_read_input_tokens']) ?? 0;
  const writes = writesOf(fields, asksForHour);
  const reasoning = countOf(fieldsOf(fields['output_tokens_details'])['thinking_tokens']) ?? 0;
  const counts = (write: Writes): TokenCounts => ({
    ...NO_TOKENS,
    input: (fresh ?? 0) + cached + write.cacheWrite,
    output: output ?? 0,
    cached,
    ...write,
  });
  const shown = counts(writes.shown);
  const isExact = writes.least === writes.most;
  const most = isExact ? shown : counts(writes.most);
  return {
    shown,
    reasoning,
    least: isExact ? shown : counts(writes.least),
    most: reasoning > most.output ? { ...most, output: most.output + reasoning } : most,
    isDoubtful: writes.isDoubtful || isNoCount(fields['cache_read_input_tokens']),
  };
}

type Writes = Pick<TokenCounts, 'cacheWrite' | 'cacheWrite1h'>;
type WriteBounds = Pick<CallUsage, 'isDoubtful'> & { readonly [Bound in 'shown' | 'least' | 'most']: Writes };

/** Writes cost by how long they are kept, which only their parts tell. */
function writesOf(fields: Fields, asksForHour: () => boolean): WriteBounds {
  const reported = fields['cache_creation_input_tokens'];
  const kept = fields['cache_creation'];
  const parts = fieldsOf(kept);
  const short = parts['ephemeral_5m_input_tokens'];
  const hour = countOf(parts['ephemeral_1h_input_tokens']) ?? 0;
  const others = Object.entries(parts).filter(isUnknownPart);
  const unknown = others.reduce((sum, [, value]) => sum + (countOf(value) ?? 0), 0);
  const listed = (countOf(short) ?? 0) + hour;
  const all = countOf(reported) ?? listed;
  const bounds = (shown: number, least: number, most: number, highest = all): WriteBounds => {
    const asShown = { cacheWrite: all, cacheWrite1h: shown };
    const isExact = least === shown && most === shown && highest === all;
    return {
      shown: asShown,
      least: isExact ? asShown : { cacheWrite: all, cacheWrite1h: least },
      most: isExact ? asShown : { cacheWrite: highest, cacheWrite1h: most },
      isDoubtful: isNoCount(reported),
    };
  };
  const isUnread = (kept !== undefined && kept !== null && !isFields(kept)) || others.length > 0;
  const highest = Math.max(all, listed + unknown);
  if (isUnread) return { ...bounds(hour, hour > all ? 0 : hour, highest, highest), isDoubtful: true };
  if (Object.keys(parts).length === 0) return bounds(0, 0, all > 0 && asksForHour() ? all : 0);
  if (listed > all) return bounds(hour, 0, hour, listed);
  // Beside both parts the rest may be one or the other; beside an hour alone it was short.
  const isOpen = listed < all && hour > 0 && countOf(short) !== undefined;
  return bounds(hour, hour, isOpen ? all - (countOf(short) ?? 0) : hour);
}

function isUnknownPart([name, value]: [string, unknown]): boolean {
  if (name === 'ephemeral_5m_input_tokens' || name === 'ephemeral_1h_input_tokens') return isNoCount(value);
  return value !== 0 && value !== null;
}
