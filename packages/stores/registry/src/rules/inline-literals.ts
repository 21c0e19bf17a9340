/**
 * Literals that rules look for in the code of inline scripts, in four forms:
 * `Shopify.shop=` an assignment, also as `window['Shopify'].shop =`; `fbq('init` a call whose first argument starts so; `algoliasearch(` any
 * call; `BCData` the name anywhere in code; `"1380b703-...` a string literal or JSON key of exactly this value. Never text in comments or
 * parts of strings: a mention is no use.
 */
interface Literal {
  readonly spelling: string;
  readonly head: string;
  /** What follows the head in the chain, such as `.shop`. */
  readonly rest: string;
  readonly form: 'name' | 'assigned' | 'called' | 'string';
  readonly argument: string;
}

const FORM = /^(?:"(?<text>[^"]+)|(?<head>[\w$]+)(?<rest>(?:\.[\w$]+)*)(?<form>=|\((?:'(?<argument>[^']*))?)?)$/;
const TABLE_SIZE = 4_096;
/** White space between a name and what follows it. */
const GAP_BOUND = 16;

/** The literals of all rules, found by the hash of an identifier that the reader computes while it passes it. */
export class InlineLiterals {
  readonly #table: (Literal[] | undefined)[] = Array.from({ length: TABLE_SIZE }, () => undefined);
  readonly maxLength: number;

  constructor(spellings: Iterable<string>) {
    let maxLength = 0;
    for (const spelling of new Set(spellings)) {
      const literal = parseLiteral(spelling);
      const slot = hashOf(literal.head) & (TABLE_SIZE - 1);
      (this.#table[slot] ??= []).push(literal);
      maxLength = Math.max(maxLength, literal.head.length);
    }
    this.maxLength = maxLength;
  }

  /** The literals of a name in code at `start`; `next` is where the chain or operator after it begins. */
  matchName(code: string, hash: number, start: number, length: number, next: number, found: (spelling: string) => void): void {
    const literals = this.#table[hash & (TABLE_SIZE - 1)];
    if (literals === undefined) return;
    for (const literal of literals) {
      if (literal.form === 'string' || literal.head.length !== length || !code.startsWith(literal.head, start)) continue;
      if (continues(code, next, literal)) found(literal.spelling);
    }
  }

  /** The literals that are a whole string. */
  matchString(code: string, hash: number, start: number, length: number, found: (spelling: string) => void): void {
    const literals = this.#table[hash & (TABLE_SIZE - 1)];
    if (literals === undefined) return;
    for (const literal of literals) {
      const isThis = literal.form === 'string' && literal.head.length === length && code.startsWith(literal.head, start);
      if (isThis) found(literal.spelling);
    }
  }
}

function parseLiteral(spelling: string): Literal {
  const groups = FORM.exec(spelling)?.groups;
  if (groups === undefined) throw new Error(`${spelling} is not a literal of inline scripts`);
  const { text, head, rest = '', form, argument = '' } = groups;
  if (text !== undefined) return { spelling, head: text, rest, form: 'string', argument };
  return { spelling, head: head ?? '', rest, form: form === undefined ? 'name' : form === '=' ? 'assigned' : 'called', argument };
}

/** The same hash is computed by the reader of scripts. */
export function hashOf(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) | 0;
  return hash;
}

function continues(code: string, from: number, { rest, form, argument }: Literal): boolean {
  if (!code.startsWith(rest, from)) return false;
  let at = from + rest.length;
  if (isNamePart(code.charCodeAt(at))) return false;
  if (form === 'name') return true;
  at = skipSpace(code, at);
  if (form === 'assigned') return isAssignment(code, at);
  if (code.charCodeAt(at) !== 0x28) return false;
  if (argument === '') return true;
  at = skipSpace(code, at + 1);
  const quote = code.charCodeAt(at);
  return (quote === 0x27 || quote === 0x22 || quote === 0x60) && code.startsWith(argument, at + 1);
}

/** `=` but not `==` or `=>`, `||=` and `??=`. */
function isAssignment(code: string, at: number): boolean {
  const first = code.charCodeAt(at);
  const second = code.charCodeAt(at + 1);
  if (first === 0x3d) return second !== 0x3d && second !== 0x3e;
  return (first === 0x7c || first === 0x3f) && second === first && code.charCodeAt(at + 2) === 0x3d;
}

function skipSpace(code: string, from: number): number {
  let at = from;
  while (at - from < GAP_BOUND && code.charCodeAt(at) <= 0x20) at++;
  return at;
}

export function isNamePart(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x24
  );
}
