/** One thing wrong: where (`server.port`, or a variable's name), the variable that sets it, and what is expected there. */
export interface ConfigFault {
  readonly path: string;
  readonly message: string;
  readonly variable?: string | undefined;
}
