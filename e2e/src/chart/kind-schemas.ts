/** A part of the API server's OpenAPI 2 document. */
interface Definition {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string;
    readonly kind: string;
    readonly version: string;
  }[];
}
type Definitions = Readonly<Record<string, Definition>>;

/** Types of Go that the document describes as text. */
const NUMBER_OR_TEXT = { type: ['string', 'number'] };
const LOOSE: Readonly<Record<string, object>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': NUMBER_OR_TEXT,
  'io.k8s.apimachinery.pkg.api.resource.Quantity': NUMBER_OR_TEXT,
};

/** Schemas for kubeconform by the name of their file, such as `deployment-apps-v1.json`: one for each kind, with all that it refers to, and
 *  closed, so that a misspelt field is an error. */
export function kindSchemas(
  openApi: { readonly definitions: Definitions },
  kinds: ReadonlySet<string>,
): ReadonlyMap<string, object> {
  const files = new Map<string, object>();
  for (const [name, definition] of Object.entries(openApi.definitions)) {
    for (const { group, kind, version } of definition['x-kubernetes-group-version-kind'] ?? []) {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      if (!kinds.has(`${apiVersion} ${kind}`)) continue;
      const file = [kind, ...(group === '' ? [] : [group.split('.')[0]]), version].join('-').toLowerCase();
      files.set(`${file}.json`, { $ref: `#/definitions/${name}`, definitions: reachable(openApi.definitions, name) });
    }
  }
  return files;
}

function reachable(all: Definitions, root: string): Record<string, object> {
  const found: Record<string, object> = {};
  const visit = (name: string) => {
    if (found[name] !== undefined) return;
    const definition = all[name] ?? {};
    found[name] =
      LOOSE[name] ?? (definition.properties === undefined ? definition : { ...definition, additionalProperties: false });
    for (const [, other = ''] of JSON.stringify(definition).matchAll(/"#\/definitions\/([^"]+)"/g)) visit(other);
  };
  visit(root);
  return found;
}
