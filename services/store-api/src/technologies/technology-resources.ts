import { selectBy, type FilterRules } from '@vitrine/http-api/requests/query-shapes';
import type { Technology } from '@vitrine/registry/technology';
import { findTechnology, VOCABULARY } from '@vitrine/registry/vocabulary';
import { listingUrl, type PublicUrls } from '@vitrine/stores/profile/render-profile';
import type { TechnologyResource } from '@vitrine/stores/resources/store';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { rejection, respondJson, type ApiRequest, type ApiResult, type QueryOf } from '../contract/operation.ts';
import type { listTechnologies as operation } from '../contract/served-operations.ts';
import type { SignedCursors } from '../cursors/signed-cursors.ts';

const UNKNOWN_CURSOR =
  'cursor must be a next_cursor of this workspace with the same filters, at most 24 hours old; without one, the list starts again';

type TechnologyQuery = QueryOf<typeof operation>;

/** The predicate of each filter. The cursor is also bound to all of them, because both are derived from the query schema. */
const RULES: FilterRules<Omit<TechnologyQuery, 'cursor' | 'limit'>, Technology> = {
  kind: ({ kind }, wanted) => kind === wanted,
  category: ({ category }, wanted) => category === wanted,
  q: ({ name, slug }, wanted) => name.toLowerCase().startsWith(wanted) || slug.startsWith(wanted),
};

/** `GET /v1/technologies`. Returns the vocabulary of this build, as in profiles and `registry_checksum`, without a statement. */
export function listTechnologies(
  { query: { cursor, limit, ...filters } }: ApiRequest<TechnologyQuery>,
  caller: AuthenticatedKey,
  cursors: SignedCursors,
  urls: PublicUrls,
): ApiResult {
  const list = JSON.stringify([caller.workspace.id, filters]);
  const after = cursor === undefined ? '' : cursors.open(cursor, list);
  if (after === undefined) return rejection('invalid_request', UNKNOWN_CURSOR);
  const matching = selectBy(VOCABULARY, filters, RULES).filter(({ slug }) => slug > after);
  const page = matching.slice(0, limit);
  const last = page.at(-1);
  const next_cursor = last === undefined || matching.length === page.length ? null : cursors.seal(last.slug, list);
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
