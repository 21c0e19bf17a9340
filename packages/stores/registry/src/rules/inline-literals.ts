/** Literals that rules search in the code of inline scripts, in four forms: `Shopify.shop=` an assignment, also as `window['Shopify'].shop =`;
 *  `fbq('init` a call whose first argument starts so; `algoliasearch(` any call; `BCData` the name anywhere in code; `"1380b703-...` a string
 *  literal or JSON key of exactly this value. Text in comments and parts of strings never match: to mention a name is not to use it. */
interface Literal {
  readonly spelling: string;
  /** What follows the head in the chain, such as `.shop`. */
  readonly rest: string;
  readonly form: 'string' | keyof typeof USES;
  readonly argument: string;
}

const FORM = /^(?:"(?<text>[^"]+)|(?<head>[\w$]+)(?<rest>(?:\.[\w$]+)*)(?<form>=|\((?:'(?<argument>[^']*))?)?)$/;
/** What follows a name in code, by the form of the literal. An assignment is `=` (not `==`, `=>`), `||=` or `??=`. */
const USES = {
  name: /(?![\w$])/y,
  assigned: /\s{0,16}(?:=(?:[^=>]|$)|\|\|=|\?\?=)/y,
  called: /\s{0,16}\(/y,
  calledWith: /\s{0,16}\(\s{0,16}["'`]/y,
};

/** The literals of all rules, by their first identifier or string. */
export class InlineLiterals {
  readonly #byHead = new Map<string, Literal[]>();

  constructor(spellings: Iterable<string>) {
    for (const spelling of new Set(spellings)) {
      const { head, ...literal } = parseLiteral(spelling);
      this.#byHead.set(head, [...(this.#byHead.get(head) ?? []), literal]);
    }
  }

  /** The literals of a name in code. `next` is where the chain or operator after the name begins. */
  ofName(code: string, name: string, next: number): string[] {
    const literals = this.#byHead.get(name) ?? [];
    return literals.filter((literal) => continues(code, next, literal)).map(({ spelling }) => spelling);
  }

  /** The literals equal to this whole string. */
  ofString(text: string): string[] {
    const literals = this.#byHead.get(text) ?? [];
    return literals.filter(({ form }) => form === 'string').map(({ spelling }) => spelling);
  }
}

function parseLiteral(spelling: string): Literal & { readonly head: string } {
  const groups = FORM.exec(spelling)?.groups;
  if (groups === undefined) throw new Error(`${spelling} is not a literal of inline scripts`);
  const { text, head = '', rest = '', form, argument = '' } = groups;
  if (text !== undefined) return { spelling, head: text, rest, form: 'string', argument };
  const call = argument === '' ? 'called' : 'calledWith';
  return { spelling, head, rest, form: form === undefined ? 'name' : form === '=' ? 'assigned' : call, argument };
}

function continues(code: string, from: number, { rest, form, argument }: Literal): boolean {
  const at = from + rest.length;
  if (form === 'string' || !code.startsWith(rest, from) || !matchesAt(USES.name, code, at)) return false;
  return matchesAt(USES[form], code, at) && code.startsWith(argument, USES[form].lastIndex);
}

/** @param pattern - sticky */
export function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
