/** One thing wrong: where (`server.port`, or a variable's name) and what is expected there. */
export interface ConfigFault {
  readonly path: string;
  readonly message: string;
}
