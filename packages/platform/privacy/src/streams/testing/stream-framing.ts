import type { Event } from './stream-shapes.ts';

/** Numbers that look random and are the same for a seed: below `limit`. */
export type Random = (limit: number) => number;

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** JSON with arbitrary white space, arbitrary escapes, and members in any order. */
export function writeJson(value: unknown, random: Random, spaces: readonly string[] = [' ', '\t', '\n', '\r\n', '  ']): string {
  const space = () => (random(3) === 0 ? (spaces[random(spaces.length)] ?? '') : '');
  const write = (one: unknown): string => {
    if (typeof one === 'string') return writeString(one, random);
    if (typeof one !== 'object' || one === null) return JSON.stringify(one);
    if (Array.isArray(one)) return `[${one.map((element) => space() + write(element) + space()).join(',')}]`;
    const members = Object.entries(one).map(
      ([name, member]) => `${space()}${writeString(name, random)}${space()}:${space()}${write(member)}${space()}`,
    );
    for (let at = members.length - 1; at > 0; at -= 1) {
      const other = random(at + 1);
      [members[at], members[other]] = [members[other] ?? '', members[at] ?? ''];
    }
    return `{${members.join(',')}}`;
  };
  return write(value);
}

function writeString(text: string, random: Random): string {
  const rate = [0, 0, 4, 1][random(4)] ?? 0;
  const written = Array.from(text, (character) => {
    // A lone surrogate can only be written as an escape.
    const isHalf = /^[\ud800-\udfff]$/.test(character);
    if (!isHalf && random(4) >= rate) return JSON.stringify(character).slice(1, -1);
    if (character === '/' && random(2) === 0) return String.raw`\/`;
    return Array.from({ length: character.length }, (_, at) => {
      const code = character.charCodeAt(at).toString(16).padStart(4, '0');
      return `\\u${random(2) === 0 ? code : code.toUpperCase()}`;
    }).join('');
  });
  return `"${written.join('')}"`;
}

/** Formatting of server-sent events. */
export interface SseStyle {
  readonly lineEnd: string;
  readonly hasByteOrderMark: boolean;
  readonly hasOtherFields: boolean;
  readonly hasLastBlankLine: boolean;
  readonly spaceAfterColon: boolean;
}

/** Events of JSON texts; where those have line breaks, each line is a `data` line. */
export function writeSse(jsons: readonly string[], style: SseStyle): string {
  const { lineEnd } = style;
  const events = jsons.map((json, at) => {
    const lines = json.split(/\r\n|\r|\n/).map((line) => `data:${style.spaceAfterColon ? ' ' : ''}${line}`);
    if (style.hasOtherFields) lines.splice(at % (lines.length + 1), 0, `: keep alive ${at}`, `id: ${at}`);
    return lines.join(lineEnd);
  });
  const text = events.join(lineEnd + lineEnd) + lineEnd;
  return (style.hasByteOrderMark ? '\ufeff' : '') + text + (style.hasLastBlankLine ? lineEnd : '');
}

/** Data of the events of a stream, by the WHATWG standard, except that the last event needs no blank line. */
export function readSse(text: string): string[] {
  const events: string[] = [];
  let data: string[] = [];
  for (const line of [...text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/), '']) {
    if (line === '') {
      if (data.length > 0) events.push(data.join('\n'));
      data = [];
    } else if (line === 'data' || line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  return events;
}

export function readJsonLines(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

export function parseEvents(jsons: readonly string[]): Event[] {
  return jsons.map((json) => JSON.parse(json) as Event);
}
