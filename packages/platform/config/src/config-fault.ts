/** One error of the configuration: the key (`server.port`) or variable, the rule, and the variable that sets the key. */
export interface ConfigFault {
  readonly path: string;
  readonly message: string;
  readonly variable?: string | undefined;
}
