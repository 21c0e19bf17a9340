import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a free port of the loopback, reports it to the parent, and sends `count()` for each of its messages.
 *  Started by hand (for wrk) it prints the address instead. Ends with its parent. */
export function serve(server: Server, count: () => number): void {
  server.listen(0, '127.0.0.1', 1024, () => {
    const { port } = server.address() as AddressInfo;
    if (process.send === undefined) console.log(`http://127.0.0.1:${port}`);
    else process.send({ port });
  });
  process.on('message', () => process.send?.(count()));
  process.on('disconnect', () => process.exit(0));
}
