/** One parameter of a header value, `; name=value` or `; name="value"`. */
const PARAMETER = /;[ \t]*([^\s;="]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^])*)"|([^\s;"]*))[ \t]*/y;

/** The parameters of a header value such as `form-data; name="file"`, by name in lower case. The first of a name counts. Malformed ones end the
 *  list. Spec: RFC 2045 (5.1), RFC 2183. */
export function headerParameters(value: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = Math.max(0, value.indexOf(';'));
  for (let match = PARAMETER.exec(value); match !== null; match = PARAMETER.exec(value)) {
    const [, name = '', quoted, token = ''] = match;
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted?.replaceAll(/\\([^])/g, '$1') ?? token);
  }
  return parameters;
}
