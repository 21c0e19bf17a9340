/** The rules of robots.txt for one robot. Spec: RFC 9309. Crawl-delay is honoured although it is not part of it. */
export interface RobotsRules {
  readonly isAllowed: (pathAndQuery: string) => boolean;
  readonly crawlDelayMs: number | undefined;
  /** Addresses of sitemaps, at most 20. */
  readonly sitemaps: readonly string[];
  /** Characters that the rules keep in memory: the whole text, because a substring references it. */
  readonly weight: number;
}

interface Rule {
  readonly allow: boolean;
  readonly pattern: string;
}

interface Group {
  readonly agents: string[];
  readonly rules: Rule[];
  crawlDelayMs: number | undefined;
}

const MAX_RULES = 5_000;
const MAX_PATTERN_LENGTH = 2_048;
const MAX_SITEMAPS = 20;
const MAX_CRAWL_DELAY_MS = 3_600_000;

export const ALLOW_ALL: RobotsRules = { isAllowed: () => true, crawlDelayMs: undefined, sitemaps: [], weight: 0 };

/** Reads the text of a robots.txt for the robot of this name. The groups that name it are joined; if there are none, those for `*` apply. The
 *  longest matching rule decides, and Allow wins a tie. Unknown lines are ignored. */
export function parseRobots(text: string, robotName: string): RobotsRules {
  const { groups, sitemaps } = readGroups(text);
  const wanted = robotName.toLowerCase();
  const named = groups.filter(({ agents }) => agents.includes(wanted));
  const chosen = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes('*'));
  const rules = chosen
    .flatMap((group) => group.rules)
    .toSorted((a, b) => b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow));
  const delays = chosen.flatMap(({ crawlDelayMs }) => crawlDelayMs ?? []);
  return {
    isAllowed: (path) => {
      const normal = normalPath(path);
      return normal === '/robots.txt' || (rules.find(({ pattern }) => matchesPattern(pattern, normal))?.allow ?? true);
    },
    crawlDelayMs: delays.length === 0 ? undefined : Math.max(...delays),
    sitemaps,
    weight: text.length,
  };
}

function readGroups(text: string): { groups: Group[]; sitemaps: string[] } {
  const groups: Group[] = [];
  const sitemaps: string[] = [];
  let group: Group | undefined;
  let isNaming = false;
  let count = 0;
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const [, key = '', value = ''] = /^\s*([A-Za-z-]+)\s*:\s*([^#]*)/.exec(line) ?? [];
    const field = key.toLowerCase();
    if (field === 'user-agent') {
      if (!isNaming || group === undefined) groups.push((group = { agents: [], rules: [], crawlDelayMs: undefined }));
      group.agents.push(agentOf(value));
      isNaming = true;
    } else if (field === 'sitemap') {
      if (sitemaps.length < MAX_SITEMAPS) sitemaps.push(value.trim());
    } else if (group !== undefined && (field === 'allow' || field === 'disallow')) {
      isNaming = false;
      const pattern = normalPath(value.trim());
      // An empty rule matches nothing.
      if (value.trim() !== '' && pattern.length <= MAX_PATTERN_LENGTH && ++count <= MAX_RULES)
        group.rules.push({ allow: field === 'allow', pattern });
    } else if (group !== undefined && field === 'crawl-delay') {
      isNaming = false;
      const delayMs = Number(value) * 1_000;
      if (delayMs > 0) group.crawlDelayMs = Math.min(delayMs, MAX_CRAWL_DELAY_MS);
    }
  }
  return { groups, sitemaps };
}

/** The product token of `VitrineBot/1.0 (...)`, in lower case. */
function agentOf(value: string): string {
  return value.trim() === '*' ? '*' : (/^[A-Za-z_-]+/.exec(value.trim())?.[0] ?? value.trim()).toLowerCase();
}

/** Normalises percent-encoding: unreserved characters are decoded, and escapes are upper-case (RFC 9309, 2.2.2). */
function normalPath(path: string): string {
  return encodeUnsafe(path).replaceAll(/%([0-9A-Fa-f]{2})/g, (escape, hex: string) => {
    const char = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(char) ? char : escape.toUpperCase();
  });
}

function encodeUnsafe(path: string): string {
  return path.replaceAll(/[^\u0021-\u007E]+/g, (text) => encodeURIComponent(text.toWellFormed()));
}

/** `*` matches any text, and a final `$` matches the end. Linear in both for each star, because the parts between stars are searched from left to
 *  right. */
function matchesPattern(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$');
  const parts = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  const [first = '', ...rest] = parts;
  if (!path.startsWith(first)) return false;
  if (rest.length === 0) return !isAnchored || path.length === first.length;
  let from = first.length;
  const last = isAnchored ? (rest.pop() ?? '') : undefined;
  for (const part of rest) {
    const found = path.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return last === undefined || (path.endsWith(last) && path.length - last.length >= from);
}
