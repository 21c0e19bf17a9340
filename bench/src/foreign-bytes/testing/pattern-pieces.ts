/** A part of a regular expression: a text that one of its atoms matches, or a group; and how often it may repeat. */
interface Node {
  readonly text: string;
  readonly alternatives: readonly (readonly Node[])[];
  readonly isOptional: boolean;
  readonly max: number;
}

type Atom = Pick<Node, 'text' | 'alternatives'>;

/** One character of each class. */
const CLASS_SAMPLES: Readonly<Record<string, string>> = { d: '0', w: 'a', s: ' ', D: 'a', W: '-', S: 'a', b: '', B: '' };
const CONTROL_CHARACTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', '0': '\0' };
/** A part with a bound is repeated up to it, but no further than this. */
const MAX_REPEATS = 80;
const MAX_PIECES = 12;
/** An end of an input that most patterns do not expect. */
const TAIL = '\0';

/** Units of growing inputs, each with a text before it: the pattern's own literals, members of its classes, and its matches, alone, in pairs,
 *  after the beginning of a match, and slightly wrong. */
export interface Pump {
  readonly start: string;
  readonly unit: string;
}

/** An input of this length. */
export function pumped({ start, unit }: Pump, length: number): string {
  return `${start}${unit.repeat(Math.ceil(Math.max(0, length - start.length) / unit.length))}${TAIL}`;
}

export function pumpsOf(source: string): Pump[] {
  const alternatives = new PatternReader(source).alternatives();
  return alternatives.flatMap((nodes) => {
    const match = nodes.map(sampleOf).join('');
    const lean = nodes.map(leanSampleOf).join('');
    const pieces = [...new Set(piecesOf(nodes))].slice(0, MAX_PIECES);
    const pairs = pieces.flatMap((piece, at) => (at === 0 ? [] : [`${pieces[at - 1]}${piece}`, `${piece}${pieces[at - 1]}`]));
    const firsts = pieces.flatMap((piece, at) => (at === 0 ? [] : [`${pieces[0]}${piece}`]));
    const units = [...pieces, ...pairs, ...firsts, match, ` ${match}a`, `${match}!`, match.slice(0, -1), lean, `${lean}a `];
    const behind = nodes.map((node, at) => ({ start: nodes.slice(0, at).map(sampleOf).join(''), unit: sampleOf(node) }));
    return [...units.map((unit) => ({ start: '', unit })), ...behind].filter(({ unit }) => unit !== '');
  });
}

/** A text that matches, with everything repeated as often as it may be. */
function sampleOf({ text, alternatives, max }: Node): string {
  const once = alternatives.length === 0 ? text : (alternatives[0] ?? []).map(sampleOf).join('');
  return once.repeat(Math.max(0, Math.min(max === Infinity ? 1 : max, MAX_REPEATS)));
}

/** The same without optional parts. */
function leanSampleOf(node: Node): string {
  const [inner] = node.alternatives;
  if (node.isOptional) return '';
  return inner === undefined ? sampleOf(node) : sampleOf({ ...node, text: inner.map(leanSampleOf).join(''), alternatives: [] });
}

function piecesOf(nodes: readonly Node[]): string[] {
  const pieces: string[] = [];
  let word = '';
  for (const node of nodes) {
    if (node.alternatives.length === 0 && node.max === 1) {
      word += node.text;
      continue;
    }
    pieces.push(
      word,
      sampleOf(node),
      ...node.alternatives.flatMap((inner) => [inner.map(sampleOf).join(''), ...piecesOf(inner)]),
    );
    word = '';
  }
  return [...pieces, word].filter((piece) => piece !== '');
}

/** Parses regular expressions as far as samples need it: look-arounds are ignored, and one member of a class is used. */
class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  alternatives(): Node[][] {
    const found: Node[][] = [[]];
    for (let next = this.#source[this.#at]; next !== undefined && next !== ')'; next = this.#source[this.#at]) {
      if (next === '|') {
        this.#at += 1;
        found.push([]);
      } else found.at(-1)?.push(this.#node(next));
    }
    return found;
  }

  #node(first: string): Node {
    this.#at += 1;
    const atom =
      first === '('
        ? this.#group()
        : { text: first === '[' ? this.#class() : first === '\\' ? this.#escape() : (PLAIN[first] ?? first), alternatives: [] };
    return { ...atom, ...this.#quantifier() };
  }

  #group(): Atom {
    const [kind = ''] = /^\?(?:<?[=!]|:|<\w+>)/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += kind.length;
    const alternatives = this.alternatives();
    this.#at += 1;
    return /[=!]$/.test(kind) ? { text: '', alternatives: [] } : { text: '', alternatives };
  }

  #class(): string {
    const isNegated = this.#source[this.#at] === '^';
    if (isNegated) this.#at += 1;
    const members: string[] = [];
    for (let next = this.#source[this.#at]; next !== undefined && next !== ']'; next = this.#source[this.#at]) {
      this.#at += 1;
      members.push(next === '\\' ? this.#escape() : next);
    }
    this.#at += 1;
    if (!isNegated) return members[0] ?? 'a';
    return ['a', '-', '0', ' '].find((one) => !members.includes(one)) ?? 'z';
  }

  #escape(): string {
    const name = this.#source[this.#at] ?? '';
    this.#at += 1;
    const digits = name === 'x' ? 2 : name === 'u' ? 4 : 0;
    if (digits > 0) {
      const code = this.#source.slice(this.#at, this.#at + digits);
      this.#at += digits;
      return String.fromCharCode(Number.parseInt(code, 16) || 0x61);
    }
    return CLASS_SAMPLES[name] ?? CONTROL_CHARACTERS[name] ?? name;
  }

  #quantifier(): Pick<Node, 'isOptional' | 'max'> {
    const [quantifier = '', least, comma, most] = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += quantifier.length;
    const isOnce = quantifier === '' || quantifier.startsWith('?');
    if (least === undefined) return { isOptional: /^[*?]/.test(quantifier), max: isOnce ? 1 : Infinity };
    const max = comma === '' ? Number(least) : most === '' ? Infinity : Number(most);
    return { isOptional: least === '0' && max === 1, max };
  }
}

/** Characters that stand for others, or for nothing. */
const PLAIN: Readonly<Record<string, string>> = { '.': 'a', '^': '', $: '' };
