import { textTable } from '@vitrine/command-line/print-result';
import { KEY_HEADER, psqlArgs, type RunningPipeline } from './pipeline.ts';

/** What the demo prints when everything runs: lines to paste, and pages to open. */
export function demoText(
  { gateways, writers, kafka, postgres, providers }: RunningPipeline,
  token: string,
  perSecond: number,
): string {
  const [first = '', second = ''] = gateways.map(({ url }) => url);
  const key = `-H "${KEY_HEADER}: ${token}"`;
  const psql = `docker exec ${postgres.getName().replace('/', '')} ${psqlArgs(postgres).join(' ')}`;
  const containers = textTable(
    ['CONTAINER', 'WHAT', 'URL'],
    [
      ...gateways.map(({ name, url }, n) => [name, `gateway ${n + 1}`, url]),
      ...writers.map(({ name, url }, n) => [name, `trace-writer ${n + 1}`, url]),
      [kafka.name, 'Kafka', kafka.brokers.join(',')],
      [postgres.getName().replace('/', ''), 'Postgres', `${postgres.getHost()}:${postgres.getPort()}`],
      [providers.name, 'mock providers', '-'],
    ],
  );
  return `
The pipeline is running: both gateways publish traces to Kafka, both trace-writers write them to Postgres.
${perSecond} exchanges a second are sent to the gateways.

1. Send an exchange through the first gateway:

   curl ${first}/openai/v1/chat/completions ${key} \\
     -H "Authorization: Bearer sk-demo-000000000000" -H "Content-Type: application/json" \\
     -d '{"model":"gpt-4o","messages":[{"role":"user","content":"Say hello"}]}'

2. Read its trace at the second, and what the exchanges cost:

   curl "${second}/api/traces?limit=5&model=gpt-4o" ${key}
   curl "${second}/api/analytics/cost?group_by=model" ${key}

3. See what waits in the topic (lag_records of each trace-writer), and what the first gateway published:

${writers.map(({ url }) => `   curl ${url}/api/health`).join('\n')}
   curl ${first}/api/diagnostics/trace-pipeline ${key}

4. Query the database:

   ${psql} -c "SELECT model, count(*), sum(total_tokens) AS tokens, sum(estimated_cost_usd) AS usd FROM traces GROUP BY model"

5. Read logs with docker logs CONTAINER, or stop one with docker stop CONTAINER and see that no trace is lost:

${containers.replaceAll(/^(?=.)/gm, '   ')}
Stop it with Ctrl+C: all of these containers are removed.
`;
}
