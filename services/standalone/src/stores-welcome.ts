import { DEMO_FACTS } from '@vitrine/stores/demo/demo-facts';
import { DEMO_DOMAINS, UNSCANNED_SHOP } from './demo/demo-shops.ts';
import type { StoresReady } from './stores/start-stores.ts';

/** What `npm start` prints once the store API has its database: lines to paste, and the key if it was just created. */
export function storesWelcome({ url, apiKey, demo, configFile }: StoresReady): string {
  const more = `npm run store-api -- key create --config ${configFile}`;
  const key =
    apiKey === undefined
      ? `The API key was shown on the first start. Another one:\n\n   ${more} --help\n`
      : `Its API key, which is shown only now:\n\n   export STORE_API_KEY=${apiKey.reveal()}\n`;
  const header = `-H "Authorization: Bearer ${apiKey?.reveal() ?? '$STORE_API_KEY'}"`;
  return `
The store API listens on ${url}
${key}${demo === 'recorded' ? recordedText(url, header) : storefrontsText(url, header)}`;
}

function recordedText(url: string, header: string): string {
  const { domain } = DEMO_FACTS;
  return `
4. Look a store up; ${domain} is a demonstration:

   curl ${url}/v1/stores/${domain} ${header}

5. Have any other store scanned, and look it up as above a moment later:

   curl ${url}/v1/stores/enrich ${header} -H "Content-Type: application/json" -d '{"domains":["YOUR-STORE.com"],"refresh":true}'
`;
}

function storefrontsText(url: string, header: string): string {
  const profiles = DEMO_DOMAINS.map((domain) => `   curl ${url}/v1/stores/${domain} ${header}\n`).join('');
  const { host } = UNSCANNED_SHOP;
  return `
4. Look at three shops that run on this machine instead of the internet. They are scanned every few seconds, and change:

${profiles}
5. Have a fourth one scanned, and look it up a moment later:

   curl ${url}/v1/stores/enrich ${header} -H "Content-Type: application/json" -d '{"domains":["${host}"],"refresh":true}'
   curl ${url}/v1/stores/${host} ${header}

What scans confirm, as it happens (a removal takes three scans that miss, a migration two):

`;
}
