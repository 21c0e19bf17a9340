import { command } from '@vitrine/command-line/command';
import { FORMAT_OPTION, formatResult } from '@vitrine/command-line/output-format';
import { textTable } from '@vitrine/command-line/text-table';
import { usageError } from '@vitrine/command-line/usage-error';
import { explain } from '@vitrine/registry/detection/explain';
import { findTechnology, TECHNOLOGY_RULES, VOCABULARY } from '@vitrine/registry/vocabulary';
import { readEvidenceFile } from './evidence-file.ts';

export const rulesList = command({
  name: 'rules list',
  summary: 'Lists the technologies that scans look for, with the number of their rules.',
  usage: '[--format text|json]',
  help: `  --format json   for programs

Example:
  npm run -s enrich-scan-queue -- rules list --format json
`,
  options: FORMAT_OPTION,
  run: async ({ values }, context) => {
    const rows = VOCABULARY.map(({ slug, name, kind, category }) => ({
      slug,
      name,
      kind,
      category,
      rules: rulesOf(slug).length,
    }));
    const toText = (technologies: typeof rows) =>
      textTable(
        ['SLUG', 'NAME', 'KIND', 'CATEGORY', 'RULES'],
        technologies.map((row) => [row.slug, row.name, row.kind, row.category, String(row.rules)]),
      );
    context.stdout.write(formatResult(values.format, rows, toText));
    return 0;
  },
});

export const rulesShow = command({
  name: 'rules show',
  summary: 'Shows the rules of one technology by channel.',
  usage: 'SLUG [--format text|json]',
  help: `  --format json   for programs

A rule with ~ is weak, one with + only adds to others, one with ! is strong where others are weak.

Example:
  npm run -s enrich-scan-queue -- rules show klaviyo
`,
  options: FORMAT_OPTION,
  positionals: 1,
  run: async ({ values, positionals }, context) => {
    const slug = positionals[0] ?? '';
    const technology = findTechnology(slug);
    if (technology === undefined) throw usageError(`SLUG ${JSON.stringify(slug)} is no technology; rules list shows them`);
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
  usage: 'FILE [--technology SLUG] [--url URL] [--format text|json]',
  help: `FILE is evidence as JSON, such as observations.evidence, or a page as HTML.

  --technology SLUG   only this technology; without a match, the rules that were looked for
  --url URL           where a page of HTML was read; https://shop.example/ by default
  --format json       for programs

The exit code is 1 when the technology of --technology is not reported.

Example:
  npm run -s enrich-scan-queue -- rules explain page.html --technology klaviyo
`,
  options: { ...FORMAT_OPTION, technology: { type: 'string' }, url: { type: 'string' } },
  positionals: 1,
  run: async ({ values, positionals }, context) => {
    const { technology } = values;
    if (technology !== undefined && findTechnology(technology) === undefined) {
      throw usageError(`--technology ${JSON.stringify(technology)} is no technology; rules list shows them`);
    }
    const evidence = await readEvidenceFile(positionals[0] ?? '', values.url ?? 'https://shop.example/');
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
