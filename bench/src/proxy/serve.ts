import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a free port of the loopback, tells the parent which, and answers each of its questions with `answer()`.
 *  Started by hand (for wrk) it prints the address instead. Ends with its parent. */
export function serve(server: Server, answer: () => number): void {
  server.listen(0, '127.0.0.1', 1024, () => {
    const { port } = server.address() as AddressInfo;
    if (process.send === undefined) console.log(`http://127.0.0.1:${port}`);
    else process.send({ port });
  });
  process.on('message', () => process.send?.(answer()));
  process.on('disconnect', () => process.exit(0));
}
