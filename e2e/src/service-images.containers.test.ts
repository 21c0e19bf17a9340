import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { describeWithContainers } from './describe-with-containers.ts';
import { buildImage, startNetwork, startService } from './environment.ts';
import { IMAGES } from './images.ts';

const PROVIDER_PORT = 8090;
const PROVIDER = `
  require('node:http').createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'gpt-4o', usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } }));
  }).listen(${PROVIDER_PORT})`;
/** What would need npm, a compiler or a test to be there. */
const LIST_FOREIGN = `
  const files = require('node:fs').readdirSync('/app', { recursive: true });
  console.log(files.filter((file) => /\\.test\\.ts$|testcontainers|node_modules\\/(jest|typescript|@swc)/.test(file)).join());`;

await describeWithContainers('images of the services', () => {
  let image: string;
  beforeAll(async () => {
    image = await buildImage('gateway');
  }, 300_000);

  const opened = new AsyncDisposableStack();
  afterAll(() => opened.disposeAsync());

  test('the gateway serves from its image, without root and on a read-only file system, and stops at SIGTERM', async () => {
    const network = await startNetwork();
    opened.defer(async () => void (await network.stop()));
    opened.use(
      await startService({ image: IMAGES.node, command: ['-e', PROVIDER], port: PROVIDER_PORT, network, alias: 'provider' }),
    );
    const env = { SVC_PROVIDERS_OPENAI_UPSTREAM: `http://provider:${PROVIDER_PORT}` };
    const gateway = opened.use(await startService({ image, env, port: 8080, network }));

    const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] });
    const headers = { 'content-type': 'application/json', authorization: 'Bearer test' };
    const response = await fetch(`${gateway.url}/openai/v1/chat/completions`, { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toMatchObject([200, { usage: { total_tokens: 12 } }]);
    const trace = await waitUntil(
      async () => {
        const page = (await (await fetch(`${gateway.url}/api/traces`)).json()) as { items: Record<string, unknown>[] };
        return page.items[0];
      },
      { what: 'the trace' },
    );
    expect(trace).toMatchObject({ provider: 'openai', total_tokens: 12, response_status: 200 });

    const node = (script: string) => gateway.exec(['node', '-e', script]);
    expect((await node('console.log(process.getuid())')).output.trim()).toBe('1000');
    expect((await node(`require('node:fs').writeFileSync('/app/x', '')`)).output).toContain('EROFS');
    expect(
      (await node(`console.log(require('node:fs').readFileSync('/proc/1/cmdline', 'utf8').split('\\0')[0])`)).output.trim(),
    ).toBe('node');
    expect((await node(LIST_FOREIGN)).output.trim()).toBe('');
    await gateway.kill('SIGTERM');
    await expect(waitUntil(async () => !(await fetch(gateway.url).catch(() => undefined)), { what: 'the end' })).resolves.toBe(
      true,
    );
    expect(gateway.log).not.toMatch(/"level":"(?:error|fatal)"/);
  });
});
