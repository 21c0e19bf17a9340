/** Long, because the machine may be busy. A response that waits for a dependency would take timeouts of 5 s and more. */
const PROMPT_MS = 3_000;

/** Status and body of a response that does not wait for a dependency. */
export async function getPromptly(url: string): Promise<readonly [number, Readonly<Record<string, unknown>>]> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PROMPT_MS) });
  return [response.status, (await response.json()) as Readonly<Record<string, unknown>>];
}
