import { startTestCollector } from '@vitrine/testkit/test-collector';

/** A collector that accepts everything and keeps nothing. */
const collector = await startTestCollector({ discard: true });
const urls = { http: collector.url, grpc: collector.grpcUrl };

process.on('message', () => process.send?.(urls));
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
process.send?.({ port: Number(new URL(collector.url).port) });
