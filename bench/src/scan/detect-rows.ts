import { detect } from '@vitrine/registry/detection/detect';
import { extractPageEvidence } from '@vitrine/registry/evidence/extract-page-evidence';
import { generatePage } from '@vitrine/registry/testing/generate-page';
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import type { BenchRow } from '../bench.ts';
import { median } from '../median.ts';

const SIZES_KB = [75, 150, 300, 600];
/** Time limit of a page of 300 KB with the whole registry. */
const PROMISED = { sizeKb: 300, cpuMs: 10 };
const WARM_UPS = 20;

/** CPU time of detection on a page, with that of the tokenizer alone on the same page as the baseline. */
export function detectRows(repeats: number): { readonly rows: BenchRow[]; readonly broken: string[] } {
  const rows: BenchRow[] = [];
  const broken: string[] = [];
  for (const sizeKb of SIZES_KB) {
    const html = generatePage(sizeKb * 1_024);
    const page = { html, url: 'https://example.com/', pageClass: 'home' } as const;
    const whole = () => detect({ version: 1, pages: [extractPageEvidence(page)], endpoints: {} });
    const bare = () => {
      const tokenizer = new Tokenizer({ decodeEntities: false }, NO_CALLBACKS);
      tokenizer.write(html);
      tokenizer.end();
    };
    const [value, baseline] = [cpuMsOf(whole, repeats), cpuMsOf(bare, repeats)];
    rows.push({
      case: `page of ${sizeKb} KB`,
      metric: 'scanner.detect_cpu_ms',
      value,
      unit: 'ms',
      baseline,
      ratio: value / baseline,
    });
    if (sizeKb === PROMISED.sizeKb && value > PROMISED.cpuMs)
      broken.push(`detection of ${sizeKb} KB takes ${value.toFixed(1)} ms of CPU, promised are ${PROMISED.cpuMs}`);
  }
  return { rows, broken };
}

/** The median CPU time of one call, all threads: collection of garbage is part of it. */
function cpuMsOf(call: () => unknown, repeats: number): number {
  for (let i = 0; i < WARM_UPS; i += 1) call();
  const times = Array.from({ length: repeats }, () => {
    const before = process.cpuUsage();
    call();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return median(times);
}

const NOTHING = () => {};
const NO_CALLBACKS: TokenizerCallbacks = {
  onattribdata: NOTHING,
  onattribentity: NOTHING,
  onattribend: NOTHING,
  onattribname: NOTHING,
  oncdata: NOTHING,
  onclosetag: NOTHING,
  oncomment: NOTHING,
  ondeclaration: NOTHING,
  onend: NOTHING,
  onopentagend: NOTHING,
  onopentagname: NOTHING,
  onprocessinginstruction: NOTHING,
  onselfclosingtag: NOTHING,
  ontext: NOTHING,
  ontextentity: NOTHING,
};
