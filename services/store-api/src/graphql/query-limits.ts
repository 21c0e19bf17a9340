import {
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

/** Bounds of one request; each is far above what a page needs. */
export const MAX_TOKENS = 2_000;
export const MAX_DEPTH = 10;
export const MAX_ALIASES = 50;
const MAX_COST = 2_000;

/** Assumed number of items of a list. For `candidates` it is `first`. */
const LIST_ITEMS: Readonly<Record<string, number>> = { technologies: 20, queueScans: 20 };
const MAX_PAGE = 200;
const DEFAULT_PAGE = 50;

interface Weight {
  readonly depth: number;
  readonly aliases: number;
  readonly cost: number;
}

const NOTHING: Weight = { depth: 0, aliases: 0, cost: 0 };

interface QueryToCheck {
  readonly document: DocumentNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Why a request exceeds the limits; undefined when it does not. Runs before validation, whose time grows with the square of a request's fields. A
 *  fragment's weight counts for each use. Fields below introspection fields have no weight, because they are validated elsewhere. */
export function queryLimitError({ document, variables }: QueryToCheck): string | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const weigher = new Weigher(fragments, variables);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const { depth, aliases, cost } = weigher.weigh(definition.selectionSet);
    if (weigher.hasCircle) return 'fragments must not form a circle';
    if (depth > MAX_DEPTH) return `the query is ${depth} levels deep; at most ${MAX_DEPTH} are allowed`;
    if (aliases > MAX_ALIASES) return `the query has ${aliases} aliases; at most ${MAX_ALIASES} are allowed`;
    if (cost > MAX_COST)
      return `the query costs ${cost} fields, of lists for each item; at most ${MAX_COST} are allowed: ask for fewer fields or a smaller page`;
  }
  return undefined;
}

class Weigher {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #variables: Readonly<Record<string, unknown>>;
  readonly #weights = new Map<string, Weight>();
  readonly #open = new Set<string>();
  hasCircle = false;

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>, variables: Readonly<Record<string, unknown>>) {
    this.#fragments = fragments;
    this.#variables = variables;
  }

  weigh({ selections }: SelectionSetNode): Weight {
    let sum = NOTHING;
    for (const selection of selections) {
      const weight =
        selection.kind === Kind.FIELD
          ? this.#field(selection)
          : selection.kind === Kind.INLINE_FRAGMENT
            ? this.weigh(selection.selectionSet)
            : this.#fragment(selection.name.value);
      sum = {
        depth: Math.max(sum.depth, weight.depth),
        aliases: sum.aliases + weight.aliases,
        cost: sum.cost + weight.cost,
      };
    }
    return sum;
  }

  #field(field: FieldNode): Weight {
    const isIntrospection = field.name.value.startsWith('__');
    const inner = field.selectionSet === undefined || isIntrospection ? NOTHING : this.weigh(field.selectionSet);
    return {
      depth: 1 + inner.depth,
      aliases: inner.aliases + (field.alias === undefined ? 0 : 1),
      cost: 1 + inner.cost * this.#itemsOf(field),
    };
  }

  #fragment(name: string): Weight {
    const known = this.#weights.get(name);
    if (known !== undefined) return known;
    const fragment = this.#fragments.get(name);
    if (fragment === undefined) return NOTHING;
    if (this.#open.has(name)) {
      this.hasCircle = true;
      return NOTHING;
    }
    this.#open.add(name);
    const weight = this.weigh(fragment.selectionSet);
    this.#open.delete(name);
    this.#weights.set(name, weight);
    return weight;
  }

  #itemsOf({ name, arguments: given }: FieldNode): number {
    if (name.value !== 'candidates') return LIST_ITEMS[name.value] ?? 1;
    const first = given?.find((argument) => argument.name.value === 'first')?.value;
    return first === undefined ? DEFAULT_PAGE : this.#pageOf(first);
  }

  #pageOf(value: ValueNode): number {
    if (value.kind === Kind.INT) return Math.min(Number(value.value), MAX_PAGE);
    const given = value.kind === Kind.VARIABLE ? this.#variables[value.name.value] : undefined;
    return typeof given === 'number' && given >= 0 ? Math.min(given, MAX_PAGE) : MAX_PAGE;
  }
}
