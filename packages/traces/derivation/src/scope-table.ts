import type { ExchangeScope } from '@vitrine/traces/exchange-scope';

/** Remembered scopes; beyond that all are forgotten and read again. */
const REMEMBERED_MAX = 4_096;

/** The scopes of a batch, once each and as text: strings cross to another thread in a tenth of the time that objects need. */
export class ScopeTable {
  readonly texts: string[] = [];
  readonly #numbers = new Map<ExchangeScope, number>();
  #last: ExchangeScope | undefined;
  #lastNumber = 0;

  /** The place of a scope in `texts`. */
  numberOf(scope: ExchangeScope): number {
    if (scope === this.#last) return this.#lastNumber;
    this.#last = scope;
    this.#lastNumber = this.#numbers.get(scope) ?? this.#add(scope);
    return this.#lastNumber;
  }

  #add(scope: ExchangeScope): number {
    const number = this.texts.push(scopeText(scope)) - 1;
    this.#numbers.set(scope, number);
    return number;
  }
}

/** Reads the texts of scope tables; the same text is the same object while it is remembered. */
export function createScopeReader(): (text: string) => ExchangeScope {
  const known = new Map<string, ExchangeScope>();
  return (text) => {
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    const [org_id = '', workspace_id = '', gateway_key_id = '', role = ''] = text.split('\n');
    const scope = { org_id, workspace_id, gateway_key_id, role };
    if (known.size >= REMEMBERED_MAX) known.clear();
    known.set(text, scope);
    return scope;
  };
}

/** Ids hold no line feeds. */
function scopeText({ org_id, workspace_id, gateway_key_id, role }: ExchangeScope): string {
  return `${org_id}\n${workspace_id}\n${gateway_key_id}\n${role}`;
}
