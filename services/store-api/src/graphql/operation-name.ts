import { Kind, type DocumentNode, type OperationDefinitionNode } from 'graphql';

/** Root fields of the schema, and other kinds of requests. No value is chosen by a client. */
export const ROOT_FIELDS = [
  'store',
  'technology',
  'candidates',
  'storeAnalysis',
  'ingestEvidence',
  'resolveCandidate',
  'queueScans',
  'analyzeStore',
] as const;

/** `invalid`: not executed; `introspection`: requests only the schema; `several`: has root fields of more than one name. */
export const OPERATION_NAMES = [...ROOT_FIELDS, 'invalid', 'introspection', 'several'] as const;
export type OperationName = (typeof OPERATION_NAMES)[number];

/** The metric label of a request: the name of its root field. Operation names chosen by clients would create unlimited series. */
export function operationNameOf(document: DocumentNode, operation: OperationDefinitionNode): OperationName {
  const names = new Set<string>();
  const fragments = new Set<string>();
  const collect = (selections: OperationDefinitionNode['selectionSet']['selections']) => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) names.add(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet.selections);
      else {
        const { value } = selection.name;
        // Without the visited set, fragments that use each other twice would take exponential time.
        if (fragments.has(value)) continue;
        fragments.add(value);
        const fragment = document.definitions.find((one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === value);
        if (fragment?.kind === Kind.FRAGMENT_DEFINITION) collect(fragment.selectionSet.selections);
      }
    }
  };
  collect(operation.selectionSet.selections);
  const fields = [...names].filter((name) => !name.startsWith('__'));
  if (fields.length > 1) return 'several';
  return ROOT_FIELDS.find((field) => field === fields[0]) ?? 'introspection';
}
