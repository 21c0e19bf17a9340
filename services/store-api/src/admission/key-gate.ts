import type { Admission, AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import type { Scope } from '@vitrine/stores/resources/enumerations';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { rejection, type ApiRejection } from '../contract/operation.ts';
import type { AdmissionControl } from './admission-control.ts';

const BEARER = /^Bearer +(\S+)$/i;
const LIVE_KEY = /^svc_live_[A-Za-z0-9_-]{16,200}$/;
const TEST_KEY = /^svc_test_/;

/** Why a request was not admitted, for metrics. Each counter starts at 0. */
export const REJECTION_REASONS = [
  'service_token',
  'missing_key',
  'malformed_key',
  'test_key',
  'unknown_key',
  'revoked_key',
  'expired_key',
  'forbidden_scope',
  'rate_limited',
  'concurrency_limited',
  'overloaded',
  'payment_required',
  'key_unverifiable',
] as const;
export type RejectionReason = (typeof REJECTION_REASONS)[number];

/** A request's slot among the in-flight requests of its key. */
interface Slot {
  /** Undefined if the request was rejected before its key was known. */
  readonly caller: AuthenticatedKey | undefined;
  /** Why it is not admitted; undefined when it is admitted. */
  readonly rejection: ApiRejection | undefined;
}

/** Admission of one request: its key, its limits, its slot until `release`, and its share of the connections until `leave`. */
export class KeyGate {
  readonly #control: AdmissionControl;
  readonly #isOver: () => boolean;
  readonly #leaseId = randomUUID();
  #entering: Promise<Slot> | undefined;
  #releasing: Promise<void> | undefined;
  #leave = () => {};

  /** `isOver`: whether the client no longer waits for the response. */
  constructor(control: AdmissionControl, isOver: () => boolean) {
    this.#control = control;
    this.#isOver = isOver;
  }

  /** One round trip, plus one for the first request of a key in this process, and none for a malformed key. `scope`: undefined when any key is
   *  allowed. Faults: `overloaded`, `key_unverifiable`. */
  enter(request: IncomingMessage, scope: Scope | undefined): Promise<Slot> {
    this.#entering = this.#enter(request, scope);
    return this.#entering;
  }

  /** Frees the slot, also while admission is still in progress. Further calls wait for the first. */
  release(): Promise<void> {
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  /** Call when the request no longer uses a connection, which may be later than its response. */
  leave(): void {
    this.#leave();
    this.#leave = () => {};
  }

  async #enter(request: IncomingMessage, scope: Scope | undefined): Promise<Slot> {
    const token = tokenOf(request);
    if (typeof token !== 'string') return { caller: undefined, rejection: token };
    const call = { token, scope, leaseId: this.#leaseId, isOver: this.#isOver };
    const { admission, leave } = await this.#control.enter(call);
    this.#leave = leave;
    const caller = 'key' in admission ? admission : undefined;
    return { caller, rejection: admission.outcome === 'admitted' ? undefined : rejectionOf(admission, scope) };
  }

  async #release(): Promise<void> {
    const slot = await this.#entering?.catch(() => undefined);
    if (slot?.caller === undefined || slot.rejection !== undefined) return;
    await this.#control.release(slot.caller.key.id, this.#leaseId);
  }
}

function tokenOf(request: IncomingMessage): string | ApiRejection {
  const sent = request.headersDistinct['authorization'] ?? [];
  if (sent.length === 0) return unauthorized('The API key is missing: send Authorization: Bearer <API_KEY>.', 'missing_key');
  const [, token = ''] = (sent.length === 1 && BEARER.exec(sent[0] ?? '')) || [];
  if (TEST_KEY.test(token)) return unauthorized('Test keys are not served yet: use a svc_live_ key.', 'test_key');
  if (!LIVE_KEY.test(token))
    return unauthorized('The API key is malformed: send one header Authorization: Bearer svc_live_....', 'malformed_key');
  return token;
}

function unauthorized(message: string, reason: string): ApiRejection {
  return rejection('unauthorized', message, { reason, headers: ['WWW-Authenticate', 'Bearer'] });
}

const REFUSED_KEYS = {
  unknown_key: 'The API key is not known.',
  revoked_key: 'The API key has been revoked.',
  expired_key: 'The API key has expired.',
} as const;

function rejectionOf(admission: Admission, scope: Scope | undefined): ApiRejection {
  if (!('key' in admission)) {
    const { outcome } = admission;
    return unauthorized(REFUSED_KEYS[outcome], outcome);
  }
  const { outcome, plan, window_ends_in_ms } = admission;
  if (outcome === 'forbidden_scope') return rejection('forbidden_scope', `The API key lacks the scope ${scope}.`);
  if (outcome === 'concurrency_limited') {
    const message = `At most ${plan.limits.concurrency} requests of this key may be in flight; retry after a second.`;
    return rejection('concurrency_limited', message, { headers: ['Retry-After', '1'] });
  }
  const seconds = String(secondsOf(window_ends_in_ms));
  const message = `At most ${plan.limits.rpm} requests a minute are allowed for this key; retry after ${seconds} s.`;
  return rejection('rate_limited', message, { headers: ['Retry-After', seconds] });
}

/** Whole seconds, at least 1. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
