import { DEMO_FACTS } from '@vitrine/stores/demo/demo-store';
import { DEMO_DOMAINS, UNSCANNED_SHOP } from './demo/demo-shops.ts';
import type { StoresReady } from './stores/start-stores.ts';

/** What `npm start` prints once it serves: lines to paste, and where to look afterwards. `keyHeader` is the header of gateway keys. */
export function welcome(gatewayUrl: string, demo: boolean, keyHeader: string | undefined): string {
  // With authentication on, a pasted line also needs a key.
  const gatewayKey = keyHeader === undefined ? '' : ` -H "${keyHeader}: $GATEWAY_KEY"`;
  const key = (name: string) => (demo ? 'sk-demo-000000000000' : `$${name}`);
  return `
Vitrine is running. The AI traffic gateway listens on ${gatewayUrl}
${demo ? 'Demonstration: mock providers respond instead of OpenAI and Anthropic, and bodies are captured. No account is needed.\n' : ''}
1. Point a program at it; the official SDKs read these variables:

   export OPENAI_BASE_URL=${gatewayUrl}/openai/v1
   export ANTHROPIC_BASE_URL=${gatewayUrl}/anthropic

2. Or try it by hand:

   curl ${gatewayUrl}/openai/v1/chat/completions \\
     -H "Authorization: Bearer ${key('OPENAI_API_KEY')}" -H "Content-Type: application/json"${gatewayKey} \\
     -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Say hello"}]}'

   curl -N ${gatewayUrl}/anthropic/v1/messages \\
     -H "x-api-key: ${key('ANTHROPIC_API_KEY')}" -H "anthropic-version: 2023-06-01" -H "Content-Type: application/json"${gatewayKey} \\
     -d '{"model":"claude-sonnet-5","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"Say hello"}]}'

3. See what was recorded:

   curl "${gatewayUrl}/api/traces?limit=5"${gatewayKey}
   curl "${gatewayUrl}/api/traces/<id>"${gatewayKey}
   curl ${gatewayUrl}/api/diagnostics/trace-pipeline${gatewayKey}

Stop it with Ctrl+C.${demo ? '' : ' Without an account, start it with: npm start -- --demo'}
`;
}

/** What `npm start` prints once the store API has its database: lines to paste, and the key when it was made now. */
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
