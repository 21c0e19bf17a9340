import type { PublicUrls } from '@vitrine/stores/profile/render-profile';
import { SERVICE, type ApiIndex, type Health, type VersionIndex } from '@vitrine/stores/resources/discovery';
import type { Operation } from '../contract/operation.ts';

/** Spec: S2.35, S2.36, S11.1, S11.3. */
const API_VERSION = 'v1';

const authentication = ({ console_url }: PublicUrls): VersionIndex['authentication'] => ({
  scheme: 'bearer',
  header: 'Authorization',
  keys_url: `${console_url}/settings/api-keys`,
});

/** `GET /`. */
export function apiIndexOf(urls: PublicUrls): ApiIndex {
  return {
    name: 'Vitrine Store Intelligence API',
    description: 'Platform, technologies, catalogue and confirmed changes of ecommerce stores, from completed observations only.',
    documentation_url: urls.docs_url,
    rest: {
      base_url: `${urls.api_url}/${API_VERSION}`,
      version: API_VERSION,
      openapi_url: `${urls.api_url}/v1/openapi.json`,
      authentication: authentication(urls),
    },
    graphql: {
      url: `${urls.api_url}/graphql`,
      access: 'First-party surfaces only, with a service token; a workspace API key does not authenticate it.',
    },
  };
}

/** `GET /v1`. `served`: the operations with a handler. */
export function versionIndexOf(urls: PublicUrls, served: readonly Operation[]): VersionIndex {
  return {
    version: API_VERSION,
    documentation_url: urls.docs_url,
    openapi_url: `${urls.api_url}/v1/openapi.json`,
    endpoints: Object.fromEntries(served.map(({ operationId, path }) => [operationId, urls.api_url + path])),
    authentication: authentication(urls),
  };
}

/** `GET /v1/health`. */
export function healthOf(build: string | undefined, registry_checksum: string): Health {
  return { ok: true, service: SERVICE, version: API_VERSION, build: build ?? null, registry_checksum };
}
