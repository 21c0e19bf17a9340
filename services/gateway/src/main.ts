import { runCommandLine } from '@vitrine/command-line/run-command-line';
import type { Fault } from '@vitrine/faults/fault';
import { exposeMinorCollection, freeWorkerSemiSpaces } from '@vitrine/lifecycle/heap-flags';
import { scrub } from '@vitrine/privacy/scrub';
import { serve } from './cli/serve.ts';

/** Includes what is otherwise only in the log, because there is no log at a terminal. */
function messageOf({ code, say, log }: Fault): string {
  const isKeyStore = code === 'key_store_unavailable';
  const message = isKeyStore ? `${say}: ${String(log['path'])}: ${String(log['reason'])}` : say;
  const key = say.startsWith('postgresql://') ? 'storage.dsn (SVC_STORAGE_DSN)' : 'storage.path (SVC_STORAGE_PATH)';
  return scrub(code.startsWith('storage_') ? `${key}: ${message}` : message).text;
}

freeWorkerSemiSpaces();
const collectYoung = exposeMinorCollection();
const [command = 'serve'] = process.argv.slice(2);
// A gateway that starts does not load the other commands, which takes 80 ms.
const program =
  command === 'serve'
    ? { name: 'gateway', defaultCommand: 'serve', commands: [serve(collectYoung)] }
    : (await import('./cli/registry.ts')).gatewayCommandLine(collectYoung);
await runCommandLine(process, program, messageOf);
