import { runCommandLine } from '@vitrine/command-line/run-command-line';
import type { Fault } from '@vitrine/faults/fault';
import { freeWorkerSemiSpaces } from '@vitrine/lifecycle/heap-flags';
import { scrub } from '@vitrine/privacy/scrub';
import { serve } from './cli/serve.ts';

/** Includes details that are otherwise only logged, because commands have no log. */
function messageOf({ code, say, log }: Fault): string {
  const isKeyStore = code === 'key_store_unavailable';
  const message = isKeyStore ? `${say}: ${String(log['path'])}: ${String(log['reason'])}` : say;
  const key = say.startsWith('postgresql://') ? 'storage.dsn (SVC_STORAGE_DSN)' : 'storage.path (SVC_STORAGE_PATH)';
  return scrub(code.startsWith('storage_') ? `${key}: ${message}` : message).text;
}

freeWorkerSemiSpaces();
const [command = 'serve'] = process.argv.slice(2);
// A starting gateway does not load the other commands, which saves 80 ms.
const program =
  command === 'serve'
    ? { name: 'gateway', defaultCommand: 'serve', commands: [serve] }
    : (await import('./cli/registry.ts')).gatewayCommandLine;
await runCommandLine(process, program, messageOf);
