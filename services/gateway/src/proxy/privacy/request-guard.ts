import { FINDING_KINDS, findingsText, hasFindings, type FindingCounts } from '@vitrine/privacy/findings';
import { hasMode, policyFor, type PrivacyMode, type PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { openPrivacyContext, type PrivacyContext } from '@vitrine/privacy/privacy-context';
import { Redactor } from '@vitrine/privacy/redactor';
import { isSecretHeader, REDACTED } from '@vitrine/privacy/header-lines';
import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import type { Rejection } from '@vitrine/http-api/rejection';
import { BodyChunks } from '@vitrine/http-api/requests/body-chunks';
import { inspectableText, tooLarge, uninspectableReason, type Uninspectable } from './inspectable-body.ts';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** Bytes of request bodies under inspection, over all exchanges; beyond it requests are rejected with 503. */
const INSPECTED_TOTAL_MAX_BYTES = 64 * 1_048_576;

export type GuardMode = 'redact_upstream' | 'block';
const GUARD_MODES: readonly PrivacyMode[] = ['redact_upstream', 'block'] satisfies GuardMode[];

/** A request before it is forwarded: names and values of its forwarded headers, its path as the client sent it, its body. */
interface GuardedRequest {
  readonly headers: readonly string[];
  readonly path: string;
  readonly scope: ExchangeScope;
  readonly contentType: string | undefined;
  readonly body: Buffer | undefined;
}

/** The request to forward, or its rejection, and the findings (`findingsText`). */
export type Verdict = { readonly findings: string } & (
  | { readonly rejection: Rejection }
  | { readonly rejection?: undefined; readonly headers: string[]; readonly body: Buffer | undefined }
);

/** Inspects whole requests before they are forwarded, so that providers get nothing that the rules forbid. Spec: G13.6. */
export class RequestGuard {
  /** The largest body that is inspected. */
  readonly maxBytes: number;
  readonly #rules: PrivacyRules;
  readonly #context: PrivacyContext;
  /** For `block`: findings are counted and nothing is forwarded, so no placeholder is hashed. */
  readonly #countingContext: PrivacyContext;
  #held = 0;

  constructor(rules: PrivacyRules, maxBytes: number) {
    this.#rules = rules;
    this.#context = openPrivacyContext(rules);
    this.#countingContext = { ...this.#context, rules: { ...rules, format: '' } };
    this.maxBytes = maxBytes;
  }

  /** How an exchange is guarded; undefined for an unguarded one. */
  modeOf({ scope, provider, path }: Pick<CapturedExchange, 'scope' | 'provider' | 'path'>): GuardMode | undefined {
    const { mode } = policyFor(this.#rules, { ...scope, provider, path });
    return mode === 'redact_upstream' || mode === 'block' ? mode : undefined;
  }

  /** Reserves this many bytes, if available; release them with `give`. */
  take(bytes: number): boolean {
    if (this.#held + bytes > INSPECTED_TOTAL_MAX_BYTES) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }

  /** Inspects a request. Synchronous: 6 µs for a body of 2 KB, 3 ms for 1 MB. */
  inspect(mode: GuardMode, request: GuardedRequest): Verdict {
    const { body, contentType } = request;
    const text = body === undefined || body.length === 0 ? undefined : inspectableText(body, contentType);
    if (text !== undefined && 'because' in text) return { rejection: uninspectable(text), findings: '' };
    const redactor = new Redactor(mode === 'block' ? this.#countingContext : this.#context, request.scope.workspace_id);
    redactor.path(request.path);
    const inPath = { ...redactor.counts };
    const headers = redactedHeaders(request.headers, redactor, this.#rules.deniedHeaders);
    const redacted = text === undefined || body === undefined ? undefined : redactor.body(text.text, text.kind);
    const findings = hasFindings(redactor.counts) ? findingsText(redactor.counts) : '';
    if (mode === 'block' && findings !== '') return { rejection: blocked(redactor.counts), findings };
    // A redacted path would be another resource.
    if (hasFindings(inPath)) return { rejection: blocked(inPath, ' in the path'), findings };
    if (redacted === undefined || redacted === text?.text) return { headers, body, findings };
    const changed = Buffer.from(redacted);
    return { headers: withLength(headers, changed.length), body: changed, findings };
  }
}

/** The guard for the rules; undefined when they guard no exchange. */
export function openRequestGuard(rules: PrivacyRules, maxBytes: number): RequestGuard | undefined {
  return hasMode(rules, GUARD_MODES) ? new RequestGuard(rules, maxBytes) : undefined;
}

function uninspectable({ status, because }: Uninspectable): Rejection {
  const error = `request refused by pii policy: the body cannot be inspected, ${because}`;
  return { status, error, reason: 'pii_uninspectable' };
}

/** Too many bodies are under inspection. */
const GUARD_IS_FULL: Rejection = {
  status: 503,
  error: 'too many request bodies are being inspected',
  reason: 'pii_inspection_full',
};

function blocked(counts: FindingCounts, where = ''): Rejection {
  const kinds = FINDING_KINDS.filter((kind) => counts[kind] > 0);
  return { status: 403, error: `request blocked by pii policy: found ${kinds.join(', ')}${where}`, reason: 'pii_detected' };
}

/** Headers for the provider's credential are forwarded unchanged. */
function redactedHeaders(headers: readonly string[], redactor: Redactor, denied: readonly string[]): string[] {
  const redacted = [...headers];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]?.toLowerCase() ?? '';
    if (isSecretHeader(name)) continue;
    if (denied.includes(name)) redactor.counts.header += 1;
    redacted[at + 1] = denied.includes(name) ? REDACTED : redactor.line(headers[at + 1] ?? '');
  }
  return redacted;
}

function withLength(headers: readonly string[], length: number): string[] {
  return headers.map((text, at) => (at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'content-length' ? String(length) : text));
}

/** A body on its way into the guard. */
export interface HeldBody {
  /** Stops reading and releases the memory; may be called several times. */
  readonly release: () => void;
}

const NOTHING: HeldBody = { release: () => {} };

/** Reads a request's whole body within the guard's bounds and calls back once: with the body, with undefined if there is none, or with why it
 *  cannot be inspected. Never calls back for a client that left. */
export function readGuarded(
  request: Readable & Pick<IncomingMessage, 'headers'>,
  guard: RequestGuard,
  done: (outcome: { readonly body: Buffer | undefined } | { readonly rejection: Rejection }) => void,
): HeldBody {
  const { headers } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    done({ body: undefined });
    return NOTHING;
  }
  const why = uninspectableReason(headers, guard.maxBytes);
  if (why !== undefined) {
    done({ rejection: uninspectable(why) });
    return NOTHING;
  }
  let chunks = new BodyChunks();
  let held = 0;
  const release = () => {
    request.off('data', onData).off('end', onEnd);
    guard.give(held);
    held = 0;
    chunks = new BodyChunks();
  };
  const onData = (chunk: Buffer) => {
    const fits = held + chunk.length <= guard.maxBytes;
    if (fits && guard.take(chunk.length)) {
      held += chunk.length;
      chunks.push(chunk);
    } else {
      release();
      done({ rejection: fits ? GUARD_IS_FULL : uninspectable(tooLarge(guard.maxBytes)) });
    }
  };
  const onEnd = () => done({ body: chunks.joined() });
  request.on('data', onData).on('end', onEnd);
  return { release };
}
