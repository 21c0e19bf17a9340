import { respondWithScrape } from '@vitrine/http-api/respond-with-scrape';
import type { OtelConfig } from '@vitrine/telemetry/config/otel-config';
import type { Telemetry } from '@vitrine/telemetry/start-telemetry';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The native scrape endpoint. Spec: gateway, Metrics; decisions, section 2. */
export interface ScrapeEndpoint {
  readonly path: string;
  /** Whether it needs no key on the main port. */
  readonly isPublic: boolean;
  /** Responds to a GET or a HEAD of the path in the format that the client accepts. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export function scrapeEndpoint(read: NonNullable<Telemetry['scrape']>, config: OtelConfig): ScrapeEndpoint {
  return {
    path: config.prometheus_path,
    isPublic: config.prometheus_public,
    answer: respondWithScrape(read),
  };
}
