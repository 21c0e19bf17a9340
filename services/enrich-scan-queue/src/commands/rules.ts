import { command, stringOption, usageError } from '@vitrine/command-line/command';
import { textTable, FORMAT_OPTION, formatResult } from '@vitrine/command-line/print-result';
import { explain } from '@vitrine/registry/detection/explain';
import { findTechnology, TECHNOLOGY_RULES, VOCABULARY } from '@vitrine/registry/vocabulary';
import { issuePaths, issueText } from '@vitrine/config/issue-text';
import { messageOf } from '@vitrine/faults/fault';
import { storeEvidence, type StoreEvidence } from '@vitrine/registry/evidence/evidence';
import { extractPageEvidence } from '@vitrine/registry/evidence/extract-page-evidence';
import { readFile } from 'node:fs/promises';

/** Of evidence that is not valid. */
const MAX_NAMED_FAULTS = 5;

export const rulesList = command({
  name: 'rules list',
  summary: 'Lists the technologies that scans look for, with the number of their rules.',
  options: FORMAT_OPTION,
  examples: ['rules list --format json'],
  run: async ({ values }, context) => {
    const rows = VOCABULARY.map(({ slug, name, kind, category }) => {
      return { slug, name, kind, category, rules: rulesOf(slug).length };
    });
    const cells = rows.map((row) => Object.values(row).map(String));
    const heads = ['SLUG', 'NAME', 'KIND', 'CATEGORY', 'RULES'];
    context.stdout.write(formatResult(values.format, rows, () => textTable(heads, cells)));
    return 0;
  },
});

export const rulesShow = command({
  name: 'rules show',
  summary: 'Shows the rules of one technology by channel.',
  argument: 'SLUG',
  options: FORMAT_OPTION,
  help: 'A rule with ~ is weak, one with + only adds to others, one with ! is strong where others are weak.',
  examples: ['rules show klaviyo'],
  run: async ({ values, positionals: [slug = ''] }, context) => {
    const technology = findTechnology(slug);
    if (technology === undefined) throw usageError(`SLUG ${JSON.stringify(slug)} is not a technology; rules list shows all`);
    const { name, kind, category } = technology;
    const result = { ...technology, rules: TECHNOLOGY_RULES[slug] ?? {} };
    const toText = () => `${name} (${kind}, ${category})\n\n${textTable(['LIST', 'RULE'], rulesOf(slug))}`;
    context.stdout.write(formatResult(values.format, result, toText));
    return 0;
  },
});

export const rulesExplain = command({
  name: 'rules explain',
  summary: 'Explains why a page or the evidence of a scan matched, or did not.',
  argument: 'FILE',
  options: {
    technology: stringOption('SLUG', 'only this technology; without a match, the rules that were looked for'),
    url: stringOption('URL', 'where a page of HTML was read; https://shop.example/ by default'),
    ...FORMAT_OPTION,
  },
  help: `FILE is evidence as JSON, such as observations.evidence, or a page as HTML.
The exit code is 1 when the technology of --technology is not reported.`,
  examples: ['rules explain page.html --technology klaviyo'],
  run: async ({ values, positionals: [file = ''] }, context) => {
    const { technology } = values;
    if (technology !== undefined && findTechnology(technology) === undefined) {
      throw usageError(`--technology ${JSON.stringify(technology)} is not a technology; rules list shows all`);
    }
    const evidence = await readEvidenceFile(file, values.url ?? 'https://shop.example/');
    const all = explain(evidence);
    const verdicts = technology === undefined ? all : all.filter(({ slug }) => slug === technology);
    const toText = (found: typeof verdicts) => {
      if (found.length > 0) return found.map(verdictText).join('\n');
      if (technology === undefined) return 'No rule matched.\n';
      return `No rule of ${technology} matched. Looked for:\n\n${textTable(['LIST', 'RULE'], rulesOf(technology))}`;
    };
    context.stdout.write(formatResult(values.format, verdicts, toText));
    return technology === undefined || verdicts.some(({ verdict }) => verdict === 'reported') ? 0 : 1;
  },
});

function rulesOf(slug: string): string[][] {
  const technology = TECHNOLOGY_RULES[slug] ?? {};
  return Object.entries(technology).flatMap(([list, texts]) => {
    if (Array.isArray(texts)) return (texts as string[]).map((text) => [list, text]);
    return [[list, typeof texts === 'object' ? JSON.stringify(texts) : String(texts)]];
  });
}

function verdictText({ slug, verdict, confidence, install_state, because, matches }: ReturnType<typeof explain>[number]): string {
  const judged = verdict === 'reported' ? `${confidence ?? ''} ${install_state ?? ''}` : verdict;
  const rows = matches.map((match) => [match.page_class, match.channel, match.strength, match.rule, match.found]);
  return `${slug}: ${judged}. ${because}\n${textTable(['PAGE', 'CHANNEL', 'STRENGTH', 'RULE', 'FOUND'], rows)}`;
}

/** Evidence as JSON, or a page as HTML, which is read as a home page without headers and cookies. */
async function readEvidenceFile(file: string, url: string): Promise<StoreEvidence> {
  const text = await attempt(() => readFile(file, 'utf8'), 'FILE cannot be read');
  if (!text.trimStart().startsWith('{')) {
    if (URL.parse(url) === null) throw usageError(`--url ${JSON.stringify(url)} is not a URL`);
    return { version: 1, pages: [extractPageEvidence({ html: text, url, pageClass: 'home' })], endpoints: {} };
  }
  const json = await attempt(() => JSON.parse(text) as unknown, 'FILE is neither JSON nor HTML');
  const { data, error } = storeEvidence.safeParse(json, { error: issueText });
  if (data !== undefined) return data;
  const wrong = error.issues.flatMap((issue) => issuePaths(issue).map((path) => `${path.join('.')} ${issue.message}`));
  throw usageError(`FILE is not valid evidence: ${wrong.slice(0, MAX_NAMED_FAULTS).join('; ')}`);
}

/** What `read` returns or resolves to; its failure is a usage error. */
async function attempt<T>(read: () => T | Promise<T>, failure: string): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw usageError(`${failure}: ${messageOf(error)}`);
  }
}
