import { Fault } from '@vitrine/faults/fault';
import { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';
import { issuePaths, issueText, shownValue } from './issue-text.ts';
import { leavesOf, variableName, type Leaf } from './leaves.ts';
import { partialValue, type DeepPartial } from './partial-value.ts';
import { readYaml } from './read-yaml.ts';
import { isTree, merged, setAt, valueAt, type Tree } from './tree.ts';

/** Sources of a configuration: defaults, then one YAML text, then environment variables; later ones win. */
export interface ConfigSource {
  /** Values that replace the schema's own defaults. */
  readonly defaults?: Readonly<Record<string, unknown>> | undefined;
  readonly yaml?: { readonly path: string; readonly text: string } | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Such as `SVC_`. A variable consists of the prefix and the key's path in capitals, joined by `_`. */
  readonly prefix: string;
  /** Variables that do not follow that rule. When two set the same key, the later in this list wins. */
  readonly named?: readonly NamedVariable[];
  /** Adds to the error of an unknown key, for example its new name. */
  readonly hintOf?: (path: string) => string | undefined;
  /** Variables with the prefix that other programs read. They set nothing here and are not reported as unknown. */
  readonly foreign?: readonly string[];
}

/** A variable with a custom name, such as `OTEL_SERVICE_NAME`. */
export interface NamedVariable {
  readonly name: string;
  /** Whether it wins over the variable that is named after the key. */
  readonly wins: boolean;
  /** Its valid values, for error messages. */
  readonly expects: string;
  /** The keys (`server.port`) that a text sets, with their texts, as if their own variables were set. Undefined for an invalid text. */
  readonly sets: (text: string) => Readonly<Record<string, string>> | undefined;
}

/** One error of the configuration: the key (`server.port`) or variable, the rule, and the variable that sets the key. */
export interface ConfigFault {
  readonly path: string;
  readonly message: string;
  readonly variable?: string | undefined;
}

/** A rule between parts of a configuration. It receives all valid parts, so that it is checked and its faults are reported even if another part is
 *  invalid. */
type ConfigRule<S extends z.ZodType> = (config: DeepPartial<z.output<S>>) => readonly ConfigFault[];

/** A configuration with all of its faults. */
export interface InspectedConfig<S extends z.ZodType> {
  /** Frozen; undefined when there are faults. */
  readonly config: z.output<S> | undefined;
  /** Every valid part. */
  readonly parts: DeepPartial<z.output<S>>;
  readonly faults: readonly ConfigFault[];
  /** The variable that sets a key (`server.port`), if there is one. */
  readonly variableOf: (path: string) => string | undefined;
}

/** Reads YAML and environment into a frozen value of `schema`.
 *  Empty variables are ignored; unknown keys and unknown variables with the prefix are faults.
 *  Faults: `invalid_config`, with every fault at once in `say` and in `log.faults`.
 *  Spec: G16.1 to G16.3. */
export function readConfig<S extends z.ZodType>(
  schema: S,
  source: ConfigSource,
  rules: readonly ConfigRule<S>[] = [],
): z.output<S> {
  const { config, faults } = inspectConfig(schema, source, rules);
  if (config === undefined) throw invalidConfig(faults);
  return config;
}

/** The same, but returns all faults instead of throwing one. */
export function inspectConfig<S extends z.ZodType>(
  schema: S,
  source: ConfigSource,
  rules: readonly ConfigRule<S>[] = [],
): InspectedConfig<S> {
  const faults: ConfigFault[] = [];
  const leaves = leavesOf(schema);
  const yaml = source.yaml === undefined ? {} : parseYaml(source.yaml, faults);
  const tree = merged(source.defaults ?? {}, yaml);
  const variables = new Map(leaves.map(({ path }) => [path.join('.'), variableName(source.prefix, path)] as const));
  for (const { path, value, variable } of settingsOf(source, leaves, faults)) {
    setAt(tree, path, value);
    variables.set(path.join('.'), variable);
  }
  const parsed = parseTree(schema, tree);
  const parts = (parsed.success ? parsed.data : partialValue(schema, tree)) as DeepPartial<z.output<S>>;
  if (!parsed.success) faults.push(...parsed.error.issues.flatMap((issue) => faultsOfIssue(issue, tree, source)));
  faults.push(...rules.flatMap((rule) => rule(parts)));
  // A list item has the variable of its list. No variable sets a list of mappings.
  const variableOf = (path: string) =>
    variables.get(path) ??
    (typeof valueAt(tree, path.split('.')) === 'object' ? undefined : variables.get(path.replace(/\.\d+$/, '')));
  return {
    config: parsed.success && faults.length === 0 ? deepFreeze(parsed.data) : undefined,
    parts,
    faults: faults.map((fault) => ({ variable: variableOf(fault.path), ...fault })),
    variableOf,
  };
}

/** Parses a copy in which missing mappings are empty, if that reveals their required keys. The keys have variables, the mappings do not. */
function parseTree<S extends z.ZodType>(schema: S, tree: Tree): z.ZodSafeParseResult<z.output<S>> {
  // Compiling the schema takes 8 ms of CPU, and it is used once.
  const parsed = schema.safeParse(tree, { error: issueText, jitless: true });
  const isMissing = ({ code, path, ...issue }: z.core.$ZodIssue) =>
    code === 'invalid_type' && 'expected' in issue && issue.expected === 'object' && valueAt(tree, path) === undefined;
  const missing = parsed.error?.issues.filter(isMissing) ?? [];
  if (missing.length === 0) return parsed;
  const filled = merged({}, tree);
  for (const { path } of missing) setAt(filled, path.map(String), {});
  const again = parseTree(schema, filled);
  return again.success ? parsed : again;
}

/** `server.port (SVC_SERVER_PORT): must be a whole number` */
export function faultText({ path, message, variable }: ConfigFault): string {
  return `${path}${variable === undefined ? '' : ` (${variable})`}: ${message}`;
}

/** One fault with all of them, a line each. */
export function invalidConfig(faults: readonly ConfigFault[]): Fault {
  const lines = faults.map((fault) => `  ${faultText(fault)}`);
  const many = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  return new Fault('invalid_config', { say: `the configuration has ${many}\n${lines.join('\n')}`, log: { faults } });
}

function parseYaml({ path, text }: { path: string; text: string }, faults: ConfigFault[]): Tree {
  const { value, faults: wrong } = readYaml(text);
  faults.push(...wrong.map((message) => ({ path, message })));
  // A document without content is null.
  const tree = value ?? {};
  if (isTree(tree)) return tree;
  faults.push({ path, message: 'must be a mapping of keys to values' });
  return {};
}

interface Setting {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly variable: string;
}

/** The settings of the environment, in the order in which they are applied. */
function settingsOf(source: ConfigSource, leaves: readonly Leaf[], faults: ConfigFault[]): Setting[] {
  const { env, prefix, named = [], foreign = [] } = source;
  const known = new Map(leaves.map((leaf) => [variableName(prefix, leaf.path), leaf]));
  const byPath = new Map(leaves.map((leaf) => [leaf.path.join('.'), leaf]));
  const names = named.map(({ name }) => name);
  const ofNamed = (variable: NamedVariable): Setting[] => {
    const text = env[variable.name]?.trim() ?? '';
    const texts = text === '' ? {} : variable.sets(text);
    if (texts === undefined) faults.push({ path: variable.name, message: `must be ${variable.expects}` });
    return Object.entries(texts ?? {}).flatMap(([path, value]) => {
      const leaf = byPath.get(path);
      return leaf === undefined ? [] : [{ path: leaf.path, value: valueOf(leaf, value), variable: variable.name }];
    });
  };
  const ofPaths = Object.entries(env).flatMap(([name, text]): Setting[] => {
    if (!name.startsWith(prefix) || text === undefined || text === '') return [];
    const leaf = known.get(name);
    if (leaf !== undefined) return [{ path: leaf.path, value: valueOf(leaf, text), variable: name }];
    if (!names.includes(name) && !foreign.includes(name))
      faults.push({ path: name, message: `unknown variable${didYouMean(name, [...known.keys(), ...names, ...foreign])}` });
    return [];
  });
  const winners = named.filter(({ wins }) => wins);
  return [...named.filter(({ wins }) => !wins).flatMap(ofNamed), ...ofPaths, ...winners.flatMap(ofNamed)];
}

/** Converts a variable's text to the type of its leaf; a text that does not convert is rejected by the schema, with its path. */
function valueOf(leaf: Leaf, text: string): unknown {
  switch (leaf.type) {
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'number':
    case 'integer':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case 'array':
      return text.split(',').map((item) => item.trim());
    case 'string':
      return text;
    default: {
      const unexpected: never = leaf.type;
      return unexpected;
    }
  }
}

function faultsOfIssue(issue: z.core.$ZodIssue, tree: Tree, { hintOf }: Pick<ConfigSource, 'hintOf'>): ConfigFault[] {
  return issuePaths(issue).map((keys) => {
    const path = keys.map(String).join('.');
    if (issue.code !== 'unrecognized_keys') return { path, message: issue.message + shownValue(keys, valueAt(tree, keys)) };
    const hint = hintOf?.(path);
    return { path, message: hint === undefined ? issue.message : `unknown key: ${hint}` };
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
