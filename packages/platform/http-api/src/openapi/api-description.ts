/** What an API's document says beside its routes. */
export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  /** One sentence, before the rules that all APIs follow. */
  readonly summary: string;
  /** The response header that carries the correlation id; also the first request header that one is accepted from. */
  readonly correlationHeader: string;
  /** How callers authenticate; absent for a service without authorization. */
  readonly security?: SecurityScheme;
  /** Descriptions of error statuses that differ from the general ones. */
  readonly statuses?: Readonly<Record<number, string>>;
}

interface SecurityScheme {
  readonly name: string;
  /** The request header that carries the credential. */
  readonly header: string;
  readonly description: string;
}
