/** Operation names of the GenAI conventions by the end of a path. */
const OPERATIONS: readonly (readonly [RegExp, string])[] = [
  [/\/chat\/completions$|\/messages$|\/responses$/, 'chat'],
  [/\/embeddings$/, 'embeddings'],
  [/\/completions$|\/complete$/, 'text_completion'],
];

/** The operation that a provider's path requests; undefined for paths that generate nothing (lists of models, files, counts). */
export function genaiOperationName(path: string): string | undefined {
  const query = path.indexOf('?');
  const plain = query === -1 ? path : path.slice(0, query);
  return OPERATIONS.find(([pattern]) => pattern.test(plain))?.[1];
}
