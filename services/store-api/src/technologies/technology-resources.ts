import type { Technology } from '@vitrine/registry/technology';
import { findTechnology, VOCABULARY } from '@vitrine/registry/vocabulary';
import { listingUrl, type PublicUrls } from '@vitrine/stores/profile/public-urls';
import type { TechnologyResource } from '@vitrine/stores/resources/technology-resource';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { rejection, respondJson, type ApiRequest, type ApiResult } from '../contract/api-exchange.ts';
import type { TechnologyCursors } from './technology-cursor.ts';

/** The query of `GET /v1/technologies`. */
export interface TechnologyQuery {
  readonly kind?: string | undefined;
  readonly category?: string | undefined;
  readonly q?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** `GET /v1/technologies`. The vocabulary is that of this build, as in profiles and `registry_checksum`; it takes no statement. */
export function listTechnologies(
  { query, receivedAt }: ApiRequest<TechnologyQuery>,
  caller: AuthenticatedKey,
  cursors: TechnologyCursors,
  urls: PublicUrls,
): ApiResult {
  const { kind, category, q, cursor, limit } = query;
  const scope = { workspaceId: caller.workspace.id, kind, category, q };
  const start = cursor === undefined ? { after: '' } : cursors.read(cursor, scope, receivedAt);
  if ('error' in start) return rejection('invalid_request', `cursor ${start.error}`);
  const matching = VOCABULARY.filter((technology) => technology.slug > start.after && isSelected(technology, query));
  const page = matching.slice(0, limit);
  const last = page.at(-1);
  const next_cursor = last === undefined || matching.length === page.length ? null : cursors.create(last.slug, scope, receivedAt);
  return respondJson({ data: page.map((technology) => technologyOf(technology, urls)), next_cursor });
}

/** `GET /v1/technologies/{slug}`. */
export function getTechnology({ params }: ApiRequest, urls: PublicUrls): ApiResult {
  const technology = findTechnology(params['slug'] ?? '');
  if (technology === undefined)
    return rejection('not_found', 'There is no technology with this slug; GET /v1/technologies lists all.');
  return respondJson(technologyOf(technology, urls));
}

export function technologyOf(technology: Technology, urls: PublicUrls): TechnologyResource {
  const { slug, name, kind, category, vendor, website } = technology;
  return { slug, name, kind, category, vendor, website, listing_url: listingUrl(urls, slug) };
}

function isSelected({ slug, name, kind, category }: Technology, query: TechnologyQuery): boolean {
  const q = query.q?.toLowerCase();
  return (
    (query.kind === undefined || query.kind === kind) &&
    (query.category === undefined || query.category === category) &&
    (q === undefined || name.toLowerCase().startsWith(q) || slug.startsWith(q))
  );
}
