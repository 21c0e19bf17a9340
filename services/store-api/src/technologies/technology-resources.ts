import type { Technology } from '@vitrine/registry/technology';
import { findTechnology, VOCABULARY } from '@vitrine/registry/vocabulary';
import { listingUrl, type PublicUrls } from '@vitrine/stores/profile/public-urls';
import type { TechnologyResource } from '@vitrine/stores/resources/technology-resource';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { rejection, respondJson, type ApiRequest, type ApiResult } from '../contract/api-exchange.ts';
import type { SignedCursors } from '../cursors/signed-cursors.ts';

const UNKNOWN_CURSOR =
  'cursor must be a next_cursor of this workspace with the same filters, at most 24 hours old; without one, the list begins anew';

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
  { query }: ApiRequest<TechnologyQuery>,
  caller: AuthenticatedKey,
  cursors: SignedCursors,
  urls: PublicUrls,
): ApiResult {
  const { kind, category, q, cursor, limit } = query;
  const filter = JSON.stringify([caller.workspace.id, kind ?? null, category ?? null, q?.toLowerCase() ?? null]);
  const after = cursor === undefined ? '' : cursors.open(cursor, filter);
  if (after === undefined) return rejection('invalid_request', UNKNOWN_CURSOR);
  const matching = VOCABULARY.filter((technology) => technology.slug > after && isSelected(technology, query));
  const page = matching.slice(0, limit);
  const last = page.at(-1);
  const next_cursor = last === undefined || matching.length === page.length ? null : cursors.seal(last.slug, filter);
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
