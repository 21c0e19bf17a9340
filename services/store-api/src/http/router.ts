/** What a path leads to. */
export interface PathMatch<Route> {
  /** By method. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Undefined where the percent-encoding is malformed. */
  readonly params: Readonly<Record<string, string | undefined>>;
}

interface Template<Route> {
  readonly parts: readonly string[];
  readonly routes: Map<string, Route>;
}

const PARAMETER = /^\{(\w+)\}$/;

/** Finds routes by path, one segment for each part of a template; `/v1/` is another path than `/v1`. Exact parts come before parameters. */
export class Router<Route> {
  readonly #exact = new Map<string, Template<Route>>();
  readonly #templates: Template<Route>[] = [];

  add(method: string, path: string, route: Route): void {
    const parts = path.split('/');
    const isExact = !parts.some((part) => PARAMETER.test(part));
    const known = isExact ? this.#exact.get(path) : this.#templates.find((one) => one.parts.join('/') === path);
    const template = known ?? { parts, routes: new Map<string, Route>() };
    template.routes.set(method, route);
    if (known !== undefined) return;
    if (isExact) this.#exact.set(path, template);
    else this.#templates.push(template);
  }

  find(path: string): PathMatch<Route> | undefined {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return { routes: exact.routes, params: {} };
    const segments = path.split('/');
    const template = this.#templates.find(({ parts }) => matches(parts, segments));
    return template && { routes: template.routes, params: paramsOf(template.parts, segments) };
  }
}

function matches(parts: readonly string[], segments: readonly string[]): boolean {
  if (parts.length !== segments.length) return false;
  return parts.every((part, i) => part === segments[i] || (PARAMETER.test(part) && segments[i] !== ''));
}

function paramsOf(parts: readonly string[], segments: readonly string[]): Record<string, string | undefined> {
  const named = parts.flatMap((part, i) => {
    const name = PARAMETER.exec(part)?.[1];
    return name === undefined ? [] : [[name, decoded(segments[i] ?? '')] as const];
  });
  return Object.fromEntries(named);
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
