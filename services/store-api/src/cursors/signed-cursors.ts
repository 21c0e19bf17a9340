import type { Pepper } from '@vitrine/credentials/pepper';
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Spec: S6.24. */
const VALID_MS = 86_400_000;
const MAC_BYTES = 16;
const MAX_CHARACTERS = 1_024;
const FORM = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{22})$/;

/**
 * Cursors of one list, which clients send back unchanged. They contain a position in the list and the filter of their page, and expire
 * after 24 hours. They are signed, so that clients cannot forge them.
 */
export class SignedCursors {
  readonly #peppers: readonly Pepper[];
  readonly #list: string;
  readonly #nowMs: () => number;

  /** `list`: its name. Cursors of other lists are rejected. The first pepper signs, and all are accepted. */
  constructor(peppers: readonly Pepper[], list: string, nowMs: () => number) {
    this.#peppers = peppers;
    this.#list = list;
    this.#nowMs = nowMs;
  }

  seal(position: string, filter: string): string {
    const payload = Buffer.from(JSON.stringify([this.#nowMs() + VALID_MS, position])).toString('base64url');
    return `${payload}.${this.#macs(payload, filter)[0]?.toString('base64url') ?? ''}`;
  }

  /** The position; undefined for a cursor that was modified, has expired, or belongs to another list or filter. */
  open(cursor: string, filter: string): string | undefined {
    const [, payload = '', mac = ''] = (cursor.length <= MAX_CHARACTERS && FORM.exec(cursor)) || [];
    const sent = Buffer.from(mac, 'base64url');
    const isOurs = this.#macs(payload, filter).some((expected) => sent.length === MAC_BYTES && timingSafeEqual(sent, expected));
    if (payload === '' || !isOurs) return undefined;
    const [expiresAt, position] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [number, string];
    return expiresAt > this.#nowMs() ? position : undefined;
  }

  #macs(payload: string, filter: string): Buffer[] {
    const text = JSON.stringify(['cursor', this.#list, filter, payload]);
    return this.#peppers.map(({ secret }) => createHmac('sha256', secret.reveal()).update(text).digest().subarray(0, MAC_BYTES));
  }
}
