import { NO_QUERY, parseSearch, readQuery } from '@vitrine/http-api/requests/query-shapes';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { rejection, type ApiRejection, type ApiResult, type ApiRoute, type Operation } from '../contract/operation.ts';
import { ERROR_RULES, errorBody } from '../contract/error-codes.ts';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { AdmissionControl } from '../admission/admission-control.ts';
import { KeyGate } from '../admission/key-gate.ts';
import { rateHeaders, sendResponse } from './send-response.ts';
import { readBody, readIdempotencyKey } from './read-request.ts';
import { RequestDeadline } from './request-deadline.ts';
import { rejectionOfError } from './envelope-rejections.ts';
import type { RequestEvents } from './request-events.ts';

/** A response waits until its slot is freed, so that the client's next request finds it free, but not for a hanging database. */
const RELEASE_WAIT_MS = 1_000;

export interface ExchangeOptions {
  readonly admission: AdmissionControl;
  readonly events: RequestEvents;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Maximum time of a whole request; 10 s by default. */
  readonly timeoutMs?: number;
}

/** The known facts of a request before routing. */
export interface Arrival {
  readonly requestId: string;
  /** Raw path and query. */
  readonly path: string;
  readonly search: string;
  /** Of `performance.now()`. */
  readonly startedAt: number;
}

/** The route of a request target. */
interface ExchangeTarget extends Arrival {
  readonly params: Readonly<Record<string, string | undefined>>;
  /** The methods of the path; undefined for an unknown path. */
  readonly allow: string | undefined;
  readonly isBelowVersion: boolean;
}

/** One request from admission to its response. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #target: ExchangeTarget;
  readonly #route: ApiRoute | undefined;
  readonly #deadline: RequestDeadline;
  readonly #gate: KeyGate;
  #caller: AuthenticatedKey | undefined;
  #admittedAt: number | undefined;

  constructor(
    options: ExchangeOptions,
    request: IncomingMessage,
    response: ServerResponse,
    target: ExchangeTarget,
    route: ApiRoute | undefined,
  ) {
    this.#options = options;
    this.#request = request;
    this.#response = response;
    this.#target = target;
    this.#route = route;
    this.#deadline = new RequestDeadline(options.timeoutMs);
    this.#gate = new KeyGate(options.admission, () => this.#deadline.isOver);
  }

  /** Never rejects. */
  async serve(): Promise<void> {
    using deadline = this.#deadline;
    this.#response.once('close', () => {
      if (this.#response.writableFinished) return;
      deadline.clientLeft();
      void this.#release();
    });
    const work = this.#run();
    void this.#leaveAfter(work);
    let result: ApiResult;
    try {
      result = await deadline.race(work);
    } catch (error) {
      result = rejectionOfError(error, this.#admittedAt !== undefined);
    }
    await this.#release();
    await this.#pace(result);
    try {
      await this.#respond(result);
    } catch (error) {
      // A response that cannot be written must not leave its client waiting.
      this.#response.destroy();
      this.#options.events.responseFailed(error);
    }
  }

  async #run(): Promise<ApiResult> {
    const operation = this.#route?.operation;
    const isPublic = operation === undefined ? !this.#target.isBelowVersion : operation.scope === 'none';
    if (!isPublic) {
      const rejected = await this.#admit(operation);
      if (rejected !== undefined) return rejected;
    }
    if (this.#route === undefined || operation === undefined) return this.#rejectRoute();
    const { handle } = this.#route;
    if (handle === undefined)
      return rejection(
        'not_implemented',
        `${operation.operationId} is not served by this build; GET /v1 lists the served operations.`,
      );
    const { query, body, isIdempotent } = operation;
    const idempotencyKey = isIdempotent === true ? readIdempotencyKey(this.#request) : undefined;
    return handle({
      id: this.#target.requestId,
      params: this.#target.params,
      query: readQuery(query ?? NO_QUERY, parseSearch(this.#target.search)),
      body: body === undefined ? undefined : await readBody(body, this.#request),
      idempotencyKey,
      ifNoneMatch: this.#request.headers['if-none-match'],
      receivedAt: this.#options.now(),
      caller: this.#caller,
      beforeCommit: () => this.#deadline.beginCommit(),
    });
  }

  async #admit(operation: Operation | undefined): Promise<ApiRejection | undefined> {
    // For unserved operations and unknown paths only the key is checked.
    const scope = this.#route?.handle === undefined ? undefined : operation?.scope;
    const required = scope === 'any' || scope === 'none' ? undefined : scope;
    const { caller, rejection: rejected } = await this.#gate.enter(this.#request, required);
    this.#admittedAt = performance.now();
    this.#caller = caller;
    return rejected;
  }

  /** Statements of a request may continue after it is over, and use its share of the connections until they end. */
  async #leaveAfter(work: Promise<unknown>): Promise<void> {
    await work.catch(() => {});
    // Reported where the response waits for it.
    await this.#gate.release().catch(() => {});
    this.#gate.leave();
  }

  /** A client that retries at once after a refusal must not slow down others. */
  async #pace(result: ApiResult): Promise<void> {
    if (result.kind === 'rejection') await this.#options.admission.pacerOf(result.code)?.pace(this.#response);
  }

  #rejectRoute(): ApiRejection {
    const { allow, path } = this.#target;
    if (allow === undefined) return rejection('not_found', `There is no ${shortened(path)}; GET /v1 lists the operations.`);
    const message = `The path does not support ${shortened(this.#request.method ?? '')}; it supports ${allow}.`;
    return rejection('invalid_request', message, { status: 405, headers: ['Allow', allow] });
  }

  async #release(): Promise<void> {
    const failed = (error: unknown) => this.#options.events.releaseFailed(error);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, RELEASE_WAIT_MS);
    await Promise.race([this.#gate.release().catch(failed), promise]);
    clearTimeout(timer);
  }

  async #respond(result: ApiResult): Promise<void> {
    const isGone = this.#response.destroyed || this.#response.closed;
    const { requestId } = this.#target;
    const id = (result.kind === 'response' ? result.replayOf : undefined) ?? requestId;
    const status = result.kind === 'response' ? result.status : (result.status ?? ERROR_RULES[result.code].status);
    if (!isGone) {
      const used = (result.kind === 'response' ? result.used : undefined) ?? this.#caller?.period.used;
      const rates = this.#caller === undefined || used === undefined ? [] : rateHeaders(this.#caller, used);
      const body =
        result.kind === 'response' ? result.body : JSON.stringify(errorBody(result.code, result.message, id, result.reset_at));
      const headers = [REQUEST_ID_HEADER, id, ...rates, ...(result.headers ?? [])];
      await sendResponse(this.#request, this.#response, { status, headers, body, type: 'application/json' });
    }
    this.#options.events.served({
      ...this.#described(),
      status: isGone ? 0 : status,
      code: result.kind === 'rejection' ? result.code : result.status === 404 ? 'not_found' : '',
      reason: result.kind === 'response' ? undefined : (result.reason ?? result.code),
      endedAt: performance.now(),
      billed: (result.kind === 'response' ? result.billed : undefined) ?? {},
      replayOf: result.kind === 'response' ? result.replayOf : undefined,
      error: result.kind === 'response' ? undefined : result.cause,
    });
  }

  #described() {
    return {
      requestId: this.#target.requestId,
      operationId: this.#route?.operation.operationId ?? 'unknown',
      method: this.#request.method ?? '',
      route: this.#route?.operation.path ?? (this.#target.isBelowVersion ? '/v1/*' : '/*'),
      headers: this.#request.headers,
      workspaceId: this.#caller?.workspace.id,
      keyId: this.#caller?.key.id,
      startedAt: this.#target.startedAt,
      admittedAt: this.#admittedAt,
    };
  }
}

const SHOWN = 128;

function shortened(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}
