/**
 * What tells that a store has a technology: texts by channel. Everything is data, so that it is part of the checksum.
 *
 * A text that begins with `~` is weak; one with `+` only adds to others and reports nothing alone; the others are strong, that is, nobody but
 * the technology makes them. In `markup` only texts with `!` are strong; `settings`, `refers`, `statics`, `data` and `links` are always weak.
 */
export interface TechnologyRules {
  /** Addresses of its scripts and frames: `host` with everything below it, `host/path prefix`, `host *part of the path`, `host ^pattern of
   *  the path`. Hosts match whole labels. In script tags and frames the channel is `host`, in code of inline scripts `inline`. */
  readonly loads?: readonly string[];
  /** Addresses of its styles, pictures and forms, as in `loads`. Channel `asset`. */
  readonly refers?: readonly string[];
  /** Hosts below which a network gives names to its customers, if one has the site's own files (`static-hosts.ts`). Channel `asset`. */
  readonly statics?: readonly string[];
  /** Hosts in JSON of scripts. Channel `data`, weak. */
  readonly data?: readonly string[];
  /** Literals of inline code (`inline-literals.ts`), or `id:` and the start of an id of a tag. Channel `inline`. */
  readonly inline?: readonly string[];
  /** Literals of inline code that only set it up: nothing loads by them. Channel `inline`, weak. */
  readonly settings?: readonly string[];
  /** `name`, `name:start of the value`, `name:*part of the value`. Channel `header`. */
  readonly headers?: readonly string[];
  /** `name`, or `start of a name*`. Channel `cookie`. */
  readonly cookies?: readonly string[];
  /** As `headers`. Channel `meta`. */
  readonly metas?: readonly string[];
  /** Parts of the path of scripts, frames and styles of the site itself, its subdomains and hosts that have its files (`static-hosts.ts`) among them. Channel `path`. */
  readonly paths?: readonly string[];
  /** Custom elements. Channel `markup`. */
  readonly elements?: readonly string[];
  /** `data:name of a data attribute`, `class:first part of a class`, `id:id of a script or of a meta without name`, `type:type of a script`, `form:part of an address that
   *  a form is sent to`. Channel `markup`. */
  readonly markup?: readonly string[];
  /** Handle of an app block, or `ext:` and the slug of a theme app extension. Channel `app`. */
  readonly apps?: readonly string[];
  /** Entries of the list of web pixels. Channel `app`. */
  readonly pixels?: readonly string[];
  /** Hosts below which this platform gives stores their names. Channel `site`. */
  readonly sites?: readonly string[];
  /** Names of documents that were read (`StoreEvidence.endpoints`). Channel `endpoint`. */
  readonly endpoints?: readonly string[];
  /** Hosts of pages that the vendor makes for one store: their own subdomains. Channel `link`. */
  readonly links?: readonly string[];
  /** A theme by its `schema_name`, else by its id in the theme store. Channel `fact`; only the theme that visitors see. */
  readonly theme?: { readonly schema: string; readonly id: number };
  /** Reported only together with this platform. */
  readonly requires?: string;
  /** Reported only where a platform is known that is none of these: their edge has it for all stores. */
  readonly suppliedBy?: readonly string[];
  /** The version of literals that brought the newest of its own; 1 if missing. */
  readonly literalsSince?: number;
  /** Technologies whose marks this one imitates. */
  readonly excludes?: readonly string[];
}

export type RulesBySlug = Readonly<Record<string, TechnologyRules>>;
