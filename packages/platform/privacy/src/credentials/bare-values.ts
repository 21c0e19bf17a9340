import type { Span } from '../text-edit.ts';

// A comma ends a value when it is followed by a blank, or by another name (of letters) with its value.
const COMMA = String.raw`,(?!\s|$|[A-Za-z_][A-Za-z_.-]{0,63}[=:](?![=\s&;,"']|$))`;
const VALUE = String.raw`[^\s&;,"'${'`'}\\]|'(?=[A-Za-z0-9])|${COMMA}`;
/** An unquoted value. In JSON a backslash begins an escape. Elsewhere it is a character of the value. */
const BARE = new RegExp(String.raw`(?:${VALUE}|\\(?!["'${'`'}]))+`, 'y');
const BARE_IN_JSON = new RegExp(String.raw`(?:${VALUE}|\\[\\/])+`, 'y');
/** Markup and braces end it: `<b>token: abc1</b>`. */
const MARKUP = /[{<]|\[(?!\w*\])/g;
const CALL = /[([]/g;
const DIGIT_OR_SIGN = /[\d!@#$%^*+~=]/g;
const NUMBERED_TYPE = /^(?:u?int|float|big|bytes|utf)[\w-]*$/i;
/** Characters that may follow a value in prose and code. */
const BEHIND_VALUE = ')]}>.:?';

/** Unquoted values of consecutive names: `token:token:token:` is one value after the first name, and a shorter one after each of the others.
 *  Positions must ascend, so that all of them take one pass. */
export class BareValues {
  readonly #text: string;
  readonly #pattern: RegExp;
  readonly #markup: NextMatch;
  readonly #calls: NextMatch;
  readonly #digitsOrSigns: NextMatch;
  #end = -1;
  #cut = -1;
  #trimmed = -1;

  constructor(text: string, isJson: boolean) {
    this.#text = text;
    this.#pattern = isJson ? BARE_IN_JSON : BARE;
    this.#markup = new NextMatch(MARKUP, text);
    this.#calls = new NextMatch(CALL, text);
    this.#digitsOrSigns = new NextMatch(DIGIT_OR_SIGN, text);
  }

  /** The value that begins at `from`, of any form. */
  anyAt(from: number): Span {
    // Each of its characters may begin a value with the same end.
    if (from > this.#end) {
      this.#pattern.lastIndex = from;
      this.#end = from + (this.#pattern.exec(this.#text)?.[0].length ?? 0);
    }
    return { start: from, end: this.#end };
  }

  /** The same without trailing markup and punctuation, if it looks like a secret. */
  secretAt(from: number, isPassword: boolean): Span | undefined {
    const end = this.#withoutPunctuation(from, Math.min(this.anyAt(from).end, this.#markup.from(from)));
    if (this.#calls.from(from) < end) return undefined;
    const value = this.#text.slice(from, end);
    return looksOpaque(value, isPassword, this.#digitsOrSigns.from(from) < end) ? { start: from, end } : undefined;
  }

  #withoutPunctuation(from: number, cut: number): number {
    if (cut !== this.#cut) {
      this.#cut = cut;
      this.#trimmed = cut;
      while (this.#trimmed > from && BEHIND_VALUE.includes(this.#text[this.#trimmed - 1] ?? '-')) this.#trimmed -= 1;
    }
    return Math.max(from, this.#trimmed);
  }
}

/** Whether a value looks like a secret: letters and digits, or signs; but not a number, variable, call, or another assignment. */
export function looksSecret(value: string, isPassword: boolean = false): boolean {
  return value.search(CALL) < 0 && looksOpaque(value, isPassword, value.search(DIGIT_OR_SIGN) >= 0);
}

/** The same for a value without a call. */
function looksOpaque(value: string, isPassword: boolean, hasDigitOrSign: boolean): boolean {
  if (value.length < 4 || /^(?:\$\w+$|\*+$|[A-Za-z_]+=)/.test(value)) return false;
  if (/^[\d.,:$%/-]+$/.test(value)) return isPassword;
  return hasDigitOrSign && !NUMBERED_TYPE.test(value);
}

/** Finds the first match of a pattern at or after a position. Positions must ascend, so that all searches of a text take one pass. */
class NextMatch {
  readonly #pattern: RegExp;
  readonly #text: string;
  #at = -1;

  /** `pattern` is global. */
  constructor(pattern: RegExp, text: string) {
    this.#pattern = pattern;
    this.#text = text;
  }

  /** `Infinity` when there is none. */
  from(position: number): number {
    if (this.#at < position) {
      this.#pattern.lastIndex = position;
      this.#at = this.#pattern.exec(this.#text)?.index ?? Infinity;
    }
    return this.#at;
  }
}
