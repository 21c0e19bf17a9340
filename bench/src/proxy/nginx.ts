import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { stop } from '../forked.ts';
import { freePort } from './gateway-process.ts';

const READY_WITHIN_MS = 5_000;

/** The nginx of this machine; undefined when there is none. */
export function findNginx(path: string = process.env['PATH'] ?? ''): string | undefined {
  const folders = [...path.split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'nginx')).find((file) => existsSync(file));
}

/** Starts nginx as a forwarder with one process, so that CPU and memory can be read from one pid. */
export async function startNginx(
  binary: string,
  upstreamPort: number,
  home: string,
): Promise<{ pid: number; port: number; stop(): Promise<void> }> {
  const port = await freePort();
  await mkdir(home, { recursive: true });
  const config = join(home, 'nginx.conf');
  await writeFile(config, configOf(port, upstreamPort, home));
  const child = spawn(binary, ['-p', home, '-c', config, '-e', join(home, 'error.log')], { stdio: 'ignore' });
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end && child.exitCode === null; await sleep(20))
    if (await accepts(port)) return { pid: child.pid ?? 0, port, stop: () => stop(child) };
  await stop(child);
  throw new Error(`${binary} does not accept connections; see ${join(home, 'error.log')}`);
}

function configOf(port: number, upstreamPort: number, home: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${home}/${name};`);
  return `daemon off; master_process off; pid ${home}/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off; ${temporary.join(' ')}
  keepalive_requests 100000000;
  upstream provider { server 127.0.0.1:${upstreamPort}; keepalive 512; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location /openai/ {
      proxy_pass http://provider/; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_request_buffering off;
    }
  }
}
`;
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1', () => {
    socket.destroy();
    resolve(true);
  });
  socket.on('error', () => resolve(false));
  return promise;
}
