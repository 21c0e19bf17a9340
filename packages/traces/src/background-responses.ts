import type { ExchangeScope } from './exchange-scope.ts';

/** Responses that were created in the background, and whether they have been counted. */
export interface BackgroundResponses {
  /** One was created. It is remembered once, however often it is added. */
  remember(response: RememberedResponse & { readonly createdAt: number }): void;
  /** Its usage is to be counted now: on which key, and the model of the request. Undefined when it was counted before, was not created
   *  here, or is another tenant's than that of `scope`. */
  take(id: string, scope: ExchangeScope): Omit<RememberedResponse, 'id'> | undefined;
}

export interface RememberedResponse {
  readonly id: string;
  readonly scope: ExchangeScope;
  readonly model: string;
}
