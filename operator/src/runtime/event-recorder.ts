import type { ApiRequests } from './kubernetes-client.ts';

/** Maximum concurrent requests. While this many wait for the API server, further events are dropped and counted, because an event is not state. */
const MAX_IN_FLIGHT = 64;
const MAX_NOTE = 1_024;

export interface ObjectEvent {
  readonly type: 'Normal' | 'Warning';
  /** Why, as a word, such as `SecretReissued`. */
  readonly reason: string;
  /** What was done, as a word, such as `Rotate`. */
  readonly action: string;
  readonly note: string;
}

/** The object of an event. */
export interface EventSubject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: {
    readonly name?: string | undefined;
    readonly namespace?: string | undefined;
    readonly uid?: string | undefined;
    readonly resourceVersion?: string | undefined;
  };
}

type Reporter = Readonly<Record<'controller' | 'instance', string>>;

/** Records what happened to objects as events (events.k8s.io/v1), which `kubectl describe` shows for an hour. Callers do not wait for them. */
export class EventRecorder {
  readonly #server: ApiRequests;
  readonly #reporter: Reporter;
  readonly #onError: (error: unknown) => void;
  #inFlight = 0;
  #dropped = 0;

  /** `reporter`: such as `vitrine.dev/operator`, and the process. */
  constructor(server: ApiRequests, reporter: Reporter, onError: (error: unknown) => void) {
    this.#server = server;
    this.#reporter = reporter;
    this.#onError = onError;
  }

  /** Events that were not sent because too many waited. */
  get dropped(): number {
    return this.#dropped;
  }

  record({ apiVersion, kind, metadata = {} }: EventSubject, { note, ...event }: ObjectEvent): void {
    if (this.#inFlight >= MAX_IN_FLIGHT) {
      this.#dropped += 1;
      return;
    }
    this.#inFlight += 1;
    const { name = '', namespace = 'default', uid, resourceVersion } = metadata;
    const body = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      // A part of a name must not end in a dot.
      metadata: { generateName: `${name.slice(0, 200).replace(/(?<![.-])[.-]+$/, '')}-`, namespace },
      eventTime: new Date().toISOString().replace('Z', '000Z'),
      reportingController: this.#reporter.controller,
      reportingInstance: this.#reporter.instance.slice(0, 128),
      ...event,
      note: note.slice(0, MAX_NOTE),
      regarding: { apiVersion, kind, name, namespace, uid, resourceVersion },
    };
    const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    this.#server
      .request({ method: 'POST', path, body })
      .catch(this.#onError)
      .finally(() => (this.#inFlight -= 1));
  }
}
