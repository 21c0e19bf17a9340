import { Secret } from '@vitrine/config/secret';
import { openTcpProxy, type TcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { freePort, killContainer, startKafka, startPostgres, type RunningKafka } from '../environment.ts';

const RESTART_TIMEOUT_MS = 5_000;

export interface ChaosServers extends AsyncDisposable {
  readonly kafka: RunningKafka;
  /** Brokers behind `brokerProxy`. */
  readonly proxiedBrokers: readonly string[];
  readonly brokerProxy: TcpProxy;
  /** DSN of a database of the Postgres server, as superuser. */
  dsnOf(database: string): Secret;
  restartPostgres(): Promise<void>;
  /** kill -9. */
  killPostgres(): Promise<void>;
}

/** A broker, a proxy in front of one of its listeners, and a database server, each with the same port after a restart. */
export async function startChaosServers(): Promise<ChaosServers> {
  await using opened = new AsyncDisposableStack();
  const proxiedPort = await freePort();
  const brokerProxy = opened.use(await openTcpProxy(new Secret(`http://127.0.0.1:${proxiedPort}`)));
  const proxyPort = Number(new URL(brokerProxy.dsn.reveal()).port);
  const kafka = opened.use(await startKafka({ proxied: { port: proxiedPort, proxyPort } }));
  const postgres = await startPostgres({ port: await freePort() });
  opened.defer(async () => void (await postgres.stop({ timeout: 0 })));
  const uri = postgres.getConnectionUri();
  const running = opened.move();
  return {
    kafka,
    proxiedBrokers: [`127.0.0.1:${proxyPort}`],
    brokerProxy,
    dsnOf(database) {
      const url = new URL(uri);
      url.pathname = `/${database}`;
      return new Secret(url.href);
    },
    restartPostgres: () => postgres.restart({ timeout: RESTART_TIMEOUT_MS }),
    killPostgres: () => killContainer(postgres),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
