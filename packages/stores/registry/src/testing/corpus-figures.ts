import type { StoreEvidence } from '../evidence/evidence.ts';
import type { DetectedTechnology, Detection } from '../detection/detect.ts';
import type { LabelledPage } from './corpus.ts';

export interface CorpusFigures {
  readonly expected: number;
  readonly found: number;
  readonly recall: number;
  readonly reported: Readonly<Record<DetectedTechnology['confidence'], number>>;
  readonly missed: string[];
  /** `page: technology`, by confidence. */
  readonly false: Readonly<Record<DetectedTechnology['confidence'], string[]>>;
  readonly wrongState: string[];
}

export function corpusFigures(pages: readonly LabelledPage[], detect: (evidence: StoreEvidence) => Detection): CorpusFigures {
  const missed: string[] = [];
  const wrongState: string[] = [];
  const wrong: Record<DetectedTechnology['confidence'], string[]> = { high: [], medium: [], low: [] };
  const reported = { high: 0, medium: 0, low: 0 };
  for (const { name, evidence, expected, optional } of pages) {
    const { technologies } = detect(evidence);
    const seen = new Map(technologies.map((technology) => [technology.slug, technology]));
    for (const [slug, state] of expected) {
      const technology = seen.get(slug);
      if (technology === undefined) missed.push(`${name}: ${slug}`);
      else if (technology.install_state !== state) wrongState.push(`${name}: ${slug} is ${technology.install_state}`);
    }
    for (const { slug, confidence } of technologies) {
      reported[confidence]++;
      if (!expected.has(slug) && !optional.has(slug)) wrong[confidence].push(`${name}: ${slug}`);
    }
  }
  const expected = pages.reduce((sum, page) => sum + page.expected.size, 0);
  const found = expected - missed.length;
  return { expected, found, recall: found / expected, reported, missed, false: wrong, wrongState };
}

/** Fields of a page by the channel read from them. */
const FIELDS = {
  host: ['scripts', 'frames', 'inertScripts'],
  inline: ['inlineUrls', 'inlineNames', 'inlineIds'],
  asset: ['assets', 'images', 'forms'],
  markup: ['elements', 'attributes', 'classes', 'scriptIds'],
  cookie: ['cookies'],
  app: ['appBlocks', 'emptyAppBlocks', 'webPixels'],
  header: ['headers'],
  meta: ['metas'],
} as const;
export const REMOVABLE_CHANNELS = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/** The evidence of a scan that could not read one channel. */
export function withoutChannel(evidence: StoreEvidence, channel: keyof typeof FIELDS): StoreEvidence {
  const pages = evidence.pages.map((page) => ({
    ...page,
    ...Object.fromEntries(FIELDS[channel].map((field) => [field, Array.isArray(page[field]) ? [] : {}])),
  }));
  return { ...evidence, pages };
}
