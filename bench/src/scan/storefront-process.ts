import { startStorefronts } from '@vitrine/testkit/storefronts/start-storefronts';

// Serves fixture storefronts to the scanner and to the bare fetcher of the bench: `shop-N.com`, over plain HTTP.

const [count = '1', pageBytes = '1024'] = process.argv.slice(2);
const storefronts = Array.from({ length: Number(count) }, (_, i) => ({
  host: `shop-${i}.com`,
  platform: 'shopify' as const,
  technologies: ['klaviyo', 'judge-me', 'google-analytics'],
  products: 60,
  pageBytes: Number(pageBytes),
}));
const running = await startStorefronts(storefronts);
process.on('SIGTERM', () => void running[Symbol.asyncDispose]().then(() => process.exit(0)));
/** Any message: which paths the first storefront was asked for since the last call. */
let read = 0;
process.on('message', () => {
  const asked = running.received.slice(read).filter(({ host }) => host === 'shop-0.com');
  read = running.received.length;
  process.send?.({ paths: asked.map(({ path }) => path) });
});
process.send?.({ port: running.httpPort });
