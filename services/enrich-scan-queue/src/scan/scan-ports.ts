import type { AttemptReason } from '@vitrine/stores/scans/finish-scan-job';
import type { StorefrontCondition } from '@vitrine/stores/observation/observation-facts';
import type { PageEvidence } from '@vitrine/registry/evidence/evidence';
import type { CatalogDocument } from '../catalog/catalog-page.ts';

/** A document of JSON or XML: a catalogue endpoint, `/meta.json`, a sitemap. */
export interface FetchedDocument extends CatalogDocument {
  /** What it was fetched for: `shopify_meta`, or the kind of a catalogue source (`catalog/catalog-sources.ts`). */
  readonly kind: string;
}

export interface Redirect {
  readonly from: string;
  readonly to: string;
  readonly status: number;
}

/** What a completed scan read. Times are milliseconds since the epoch. */
export interface ScanCapture {
  readonly domain: string;
  readonly storefrontHost: string;
  readonly startedAt: number;
  readonly completedAt: number;
  readonly scope: 'full' | 'partial' | 'homepage_only';
  readonly coverageNote: string | null;
  readonly storefrontCondition: StorefrontCondition;
  /** Evidence only: the texts (at most 5 MiB each) of 16 concurrent scans would take hundreds of MiB. */
  readonly pages: readonly PageEvidence[];
  readonly documents: readonly FetchedDocument[];
  readonly redirects: readonly Redirect[];
}

/** A scan without a result. It changes only its job. `delayed`: the host or its edge is busy with other scans; the attempt does not count. */
export type ScanAttempt =
  | {
      readonly outcome: 'blocked' | 'failed';
      readonly reason: AttemptReason;
      /** Human-readable, at most a line, without secrets. */
      readonly detail: string;
      readonly retryAfterMs?: number;
    }
  | { readonly outcome: 'delayed'; readonly retryAfterMs: number };

/** Who is asked: both have a limit. */
export interface RequestTarget {
  readonly host: string;
  /** The checked IP address that is connected to. */
  readonly address: string;
}

/** The politeness of one scan, over all replicas: called before each request, and waits for its turn within its bound. */
export interface RequestGate {
  /** Resolves with undefined when the request may be sent, else with how long the scan has to be put off. Rejects when the signal is aborted. */
  waitTurn(target: RequestTarget, signal: AbortSignal): Promise<{ readonly delayedMs: number } | undefined>;
  /** `crawl_delay`: from now on at least so long between two requests to the host. `retry_after`: none to the host and its edge for so long. */
  slowDown(target: RequestTarget, cause: 'crawl_delay' | 'retry_after', ms: number): Promise<void>;
}

export interface ScanRequestContext {
  readonly gate: RequestGate;
  /** Aborted at the deadline of the scan (60 s) and when the process stops. */
  readonly signal: AbortSignal;
}

/** Reads a storefront. Never rejects for what a storefront does. */
export type ScanStorefront = (domain: string, context: ScanRequestContext) => Promise<ScanCapture | ScanAttempt>;

/** What the commit of an observation did to signals. */
export interface CommittedSignals {
  /** Those that are new. */
  readonly signals: readonly { readonly type: string }[];
  /** Those that are held, because too many stores lost the technology in a day. */
  readonly held: readonly { readonly type: string }[];
  /** Technologies whose removals are held from now on. */
  readonly holds: readonly string[];
  /** Those that an observation that arrived late disproved. */
  readonly withdrawn: readonly { readonly type: string }[];
}
