import type { AttemptReason } from '@vitrine/stores/scans/finish-scan-job';
import type { StorefrontCondition } from '@vitrine/stores/observation/observation-facts';
import type { PageEvidence } from '@vitrine/registry/evidence/evidence';
import type { CatalogDocument } from '../catalog/catalog-page.ts';

/** A document of JSON or XML: a catalogue endpoint, `/meta.json`, a sitemap. */
export interface FetchedDocument extends CatalogDocument {
  /** Its purpose: `shopify_meta`, or the kind of a catalogue source (`catalog/catalog-sources.ts`). */
  readonly kind: string;
}

export interface Redirect {
  readonly from: string;
  readonly to: string;
  readonly status: number;
}

/** The data read by a completed scan. Times are milliseconds since the epoch. */
export interface ScanCapture {
  readonly domain: string;
  readonly storefrontHost: string;
  readonly startedAt: number;
  readonly completedAt: number;
  readonly scope: 'full' | 'partial' | 'homepage_only';
  readonly coverageNote: string | null;
  readonly storefrontCondition: StorefrontCondition;
  /** Evidence without the page texts. The texts (at most 5 MiB each) of 16 concurrent scans would take hundreds of MiB. */
  readonly pages: readonly PageEvidence[];
  readonly documents: readonly FetchedDocument[];
  readonly redirects: readonly Redirect[];
}

/** A scan without a result. It changes only its job. `delayed`: the host or its edge is busy with other scans, and the attempt does not count. */
export type ScanAttempt =
  | {
      readonly outcome: 'blocked' | 'failed';
      readonly reason: AttemptReason;
      /** Human-readable, at most a line, without secrets. */
      readonly detail: string;
      readonly retryAfterMs?: number;
    }
  | { readonly outcome: 'delayed'; readonly retryAfterMs: number };

/** The host and its edge. Both are rate limited. */
export interface RequestTarget {
  readonly host: string;
  /** The checked IP address that is connected to. */
  readonly address: string;
}

/** The politeness of one scan, over all replicas: called before each request, waits for its turn within a bound. */
export interface RequestGate {
  /** Resolves with undefined when the request may be sent, else with how long to postpone the scan. Rejects when the signal is aborted. */
  waitTurn(target: RequestTarget, signal: AbortSignal): Promise<{ readonly delayedMs: number } | undefined>;
  /** `crawl_delay`: the minimum interval between requests to the host from now on. `retry_after`: the time without requests to the host and its
   *  edge. */
  slowDown(target: RequestTarget, cause: 'crawl_delay' | 'retry_after', ms: number): Promise<void>;
}

export interface ScanRequestContext {
  readonly gate: RequestGate;
  /** Aborted at the deadline of the scan (60 s) and when the process stops. */
  readonly signal: AbortSignal;
}

/** Reads a storefront. Never rejects because of a storefront's behaviour. */
export type ScanStorefront = (domain: string, context: ScanRequestContext) => Promise<ScanCapture | ScanAttempt>;

/** The effects of an observation's commit on signals. */
export interface CommittedSignals {
  /** New signals. */
  readonly signals: readonly { readonly type: string }[];
  /** Signals held because too many stores lost the technology within a day. */
  readonly held: readonly { readonly type: string }[];
  /** Technologies whose removals are held from now on. */
  readonly holds: readonly string[];
  /** Signals disproved by a late observation. */
  readonly withdrawn: readonly { readonly type: string }[];
}
