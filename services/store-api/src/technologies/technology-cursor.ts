import type { Pepper } from '@vitrine/credentials/pepper';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** Spec: Limits, cursor validity. */
const VALID_MS = 86_400_000;
const PURPOSE = 'vitrine.technologies.cursor.v1';

/** What a page was asked for; a cursor is for the same alone. */
export interface CursorScope {
  readonly workspaceId: string;
  readonly kind: string | undefined;
  readonly category: string | undefined;
  readonly q: string | undefined;
}

const payload = z.strictObject({ pepper: z.int(), after: z.string(), expires: z.int() });

/** Cursors that nobody else can make: the last slug and the expiry in the clear, and a MAC over them and over what the page was asked for. */
export class TechnologyCursors {
  readonly #peppers: readonly Pepper[];

  /** The first signs new cursors, all are tried. */
  constructor(peppers: readonly Pepper[]) {
    this.#peppers = peppers;
  }

  /** `now`: milliseconds since the epoch. */
  create(after: string, scope: CursorScope, now: number): string {
    const [pepper] = this.#peppers;
    if (pepper === undefined) throw new Error('invariant violated: there is a pepper');
    const text = JSON.stringify({ pepper: pepper.version, after, expires: now + VALID_MS });
    return `${Buffer.from(text).toString('base64url')}.${macOf(pepper, text, scope).toString('base64url')}`;
  }

  /** The slug after which the page begins, or why the cursor is not valid. */
  read(cursor: string, scope: CursorScope, now: number): { readonly after: string } | { readonly error: string } {
    const [head = '', mac = '', ...others] = cursor.split('.');
    const text = Buffer.from(head, 'base64url').toString();
    const parsed = payload.safeParse(parseJson(text));
    const pepper = this.#peppers.find(({ version }) => version === parsed.data?.pepper);
    const sent = Buffer.from(mac, 'base64url');
    if (parsed.data === undefined || pepper === undefined || others.length > 0) return { error: 'is not one of this API' };
    const expected = macOf(pepper, text, scope);
    if (sent.length !== expected.length || !timingSafeEqual(sent, expected))
      return { error: 'is not one of this API, or is of another workspace or other filters' };
    if (parsed.data.expires <= now) return { error: 'has expired: cursors are valid for 24 hours' };
    return { after: parsed.data.after };
  }
}

function macOf({ secret }: Pepper, text: string, { workspaceId, kind, category, q }: CursorScope): Buffer {
  const scope = JSON.stringify([PURPOSE, workspaceId, kind ?? null, category ?? null, q?.toLowerCase() ?? null]);
  return createHmac('sha256', secret.reveal()).update(`${scope}\n${text}`).digest();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
