/** Members that distinguish the texts of one stream: a choice, a tool call, a block, an item, a row. Not among them: indexes that change
 *  from fragment to fragment (`start_char_index`), and `id`, which only the first fragment of a tool call has. */
export const IDENTITIES = ['index', 'output_index', 'content_index', 'summary_index', 'annotation_index', 'item_id', 'custom_id'];

/** An object of an event, or an element of an array: what it says about the text below it. */
export class ContainerIdentity {
  readonly above: ContainerIdentity | undefined;
  readonly #position: number;
  /** Values of `IDENTITIES`, by their index there; members come in any order. */
  #values: string[] | undefined;
  /** The root's members of these names. */
  type = '';
  object = '';
  isUnfinished = false;

  constructor(above: ContainerIdentity | undefined, position: number) {
    this.above = above;
    this.#position = position;
  }

  identify(identity: number, value: string): void {
    // An index of its own replaces the position of an element.
    this.#values ??= [this.#position < 0 ? '' : String(this.#position)];
    this.#values[identity] = value;
  }

  /** Complete only when the whole event has been read. */
  get key(): string {
    const own = this.#values?.join() ?? (this.#position < 0 ? '' : String(this.#position));
    return this.above === undefined ? `${typeOfText(this.type)} ${own}` : `${this.above.key}/${own}`;
  }
}

/** A block's start holds the first fragment of the text that its deltas continue. */
function typeOfText(type: string): string {
  return type.endsWith('_start') || type.endsWith('_delta') ? type.slice(0, -6) : type;
}
