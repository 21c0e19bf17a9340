import type { PageEvidence } from '../evidence/evidence.ts';
import { CHANNELS, type Channel } from '../rules/rule-index.ts';

/** Channels that are not complete where a list of the evidence was full. */
const INCOMPLETE: Readonly<Record<string, readonly Channel[]>> = {
  scripts: ['host', 'path', 'app'],
  inertScripts: ['host'],
  frames: ['host', 'path'],
  inlineUrls: ['inline'],
  inlineNames: ['inline'],
  inlineIds: ['inline'],
  assets: ['asset', 'path'],
  images: ['asset'],
  forms: ['asset', 'markup', 'path'],
  dataHosts: ['data'],
  cookies: ['cookie'],
  metas: ['meta'],
  elements: ['markup'],
  attributes: ['markup'],
  classes: ['markup'],
  scriptIds: ['markup'],
  appBlocks: ['app'],
  emptyAppBlocks: ['app'],
  webPixels: ['app'],
  linkHosts: ['link'],
  hints: ['hint'],
};

/** Per class of pages the channels that could be read on every page of it. */
export function channelsRead(
  pages: readonly PageEvidence[],
  endpoints: Readonly<Record<string, string>>,
): Record<string, Channel[]> {
  const read: Record<string, Channel[]> = {};
  for (const { pageClass, truncated } of pages) {
    const missing = new Set(truncated.flatMap((list) => INCOMPLETE[list] ?? []));
    const before: readonly Channel[] = read[pageClass] ?? CHANNELS.filter((channel) => channel !== 'endpoint');
    read[pageClass] = before.filter((channel) => !missing.has(channel));
  }
  if (Object.keys(endpoints).length > 0) read['endpoint'] = ['endpoint'];
  return read;
}
