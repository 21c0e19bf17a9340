import type { StoresReady } from './stores/start-stores.ts';

/** What `npm start` prints once the store API has its database: a line to paste, and the key when it was made now. */
export function storesWelcome({ url, apiKey, demoDomain, configFile }: StoresReady): string {
  const more = `npm run store-api -- key create --config ${configFile}`;
  const key =
    apiKey === undefined
      ? `The API key was shown on the first start. Another one:\n\n   ${more} --help\n`
      : `Its API key, which is shown only now:\n\n   export STORE_API_KEY=${apiKey.reveal()}\n`;
  return `
The store API listens on ${url}
${key}
4. Look a store up; ${demoDomain} is a demonstration:

   curl ${url}/v1/stores/${demoDomain} -H "Authorization: Bearer ${apiKey?.reveal() ?? '$STORE_API_KEY'}"
`;
}
