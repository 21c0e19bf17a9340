import type { LoadOrder } from './load.ts';
import { runLoad } from './run-load.ts';

/** The load generator is a process of its own: it responds to an order with the result of that load. Ends with its parent. */
process.on('message', (order: LoadOrder) => {
  void runLoad(order).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: 0 });
