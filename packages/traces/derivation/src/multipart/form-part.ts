import { headerParameters } from './header-parameters.ts';
import { HeaderWalker } from './header-walker.ts';
import { mediaFacts, type MediaFacts } from './media-facts.ts';

export interface FormField {
  readonly name: string;
  readonly value: string;
}

export interface FormFile extends MediaFacts {
  /** The name of its field. */
  readonly field: string;
  /** Its own name, which says nothing for certain. */
  readonly name: string;
  /** Content type in lower case, without parameters; '' for none. */
  readonly type: string;
  readonly bytes: number;
}

/** The fields that select a model or affect its price. The values of others, such as prompts, are not kept. */
const FIELDS: ReadonlySet<string> = new Set([
  'background',
  'input_fidelity',
  'model',
  'n',
  'output_format',
  'partial_images',
  'purpose',
  'quality',
  'response_format',
  'seconds',
  'service_tier',
  'size',
  'stream',
  'timestamp_granularities[]',
]);
export const HEAD_MAX_BYTES = 4_096;
const VALUE_MAX_BYTES = 1_024;
const NAME_MAX_LENGTH = 256;

/** A part of a form that arrives in chunks: headers, a blank line, and content. */
export class FormPart {
  readonly #memory: Buffer;
  readonly #blankLine: string;
  /** Bytes in the memory: of the headers, then of the value. */
  #kept = 0;
  #head: PartHead | undefined;
  #bytes = 0;
  #media: HeaderWalker<MediaFacts> | undefined;

  /** `memory` has `HEAD_MAX_BYTES` bytes. Parts that follow each other may share it. `lineEnd`: CRLF or LF. */
  constructor(memory: Buffer, lineEnd: string) {
    this.#memory = memory;
    this.#blankLine = lineEnd + lineEnd;
  }

  push(bytes: Buffer): void {
    if (this.#head !== undefined) return this.#pushContent(bytes);
    const before = this.#kept;
    this.#keep(bytes);
    const read = this.#memory.subarray(0, this.#kept);
    const end = read.indexOf(this.#blankLine, Math.max(0, before - this.#blankLine.length));
    if (end < 0) return;
    this.#head = readHead(read.toString('utf8', 0, end));
    this.#kept = 0;
    if (this.#head.file !== undefined) this.#media = new HeaderWalker(mediaFacts());
    this.#pushContent(bytes.subarray(end + this.#blankLine.length - before));
  }

  /** Length of its text; 0 for a file. */
  get textBytes(): number {
    return this.#head?.file === undefined ? this.#bytes : 0;
  }

  /** Whether its headers, or a value that is needed, are too long. */
  get isTooLong(): boolean {
    return this.#head === undefined ? this.#kept === HEAD_MAX_BYTES : this.#isField && this.#bytes > VALUE_MAX_BYTES;
  }

  get field(): FormField | undefined {
    if (this.#head === undefined || !this.#isField || this.isTooLong) return undefined;
    return { name: this.#head.name, value: this.#memory.toString('utf8', 0, this.#kept) };
  }

  get file(): FormFile | undefined {
    const { name: field = '', file } = this.#head ?? {};
    return file && { field, ...file, bytes: this.#bytes, ...this.#media?.end() };
  }

  get #isField(): boolean {
    return this.#head !== undefined && this.#head.file === undefined && FIELDS.has(this.#head.name);
  }

  #pushContent(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#isField) this.#keep(bytes);
    else this.#media?.push(bytes);
  }

  #keep(bytes: Buffer): void {
    this.#kept += bytes.copy(this.#memory, this.#kept);
  }
}

interface PartHead {
  /** '' for none. */
  readonly name: string;
  readonly file: Pick<FormFile, 'name' | 'type'> | undefined;
}

/** Spec: RFC 7578 (4.2, 4.4). */
function readHead(text: string): PartHead {
  const lines = text.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const valueOf = (name: string) =>
    lines.find((line) => line.slice(0, line.indexOf(':')).trimEnd().toLowerCase() === name)?.slice(name.length) ?? '';
  const parameters = headerParameters(valueOf('content-disposition'));
  const fileName = parameters.get('filename') ?? parameters.get('filename*');
  const type = /:\s*([^\s;]*)/.exec(valueOf('content-type'))?.[1] ?? '';
  return {
    name: (parameters.get('name') ?? '').slice(0, NAME_MAX_LENGTH),
    file:
      fileName === undefined
        ? undefined
        : { name: fileName.slice(0, NAME_MAX_LENGTH), type: type.slice(0, NAME_MAX_LENGTH).toLowerCase() },
  };
}
