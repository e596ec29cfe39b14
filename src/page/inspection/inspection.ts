import type { EventName, Listener } from '../../api/events.ts';
import { type Coroutine, outcome, type Result } from '../../async/coroutine.ts';
import { callSafely } from '../../async/emitter.ts';
import type {
  CallObserver,
  LiveActivity,
  LiveRegistry,
  ObservedCall,
  OpenHandle,
} from '../sending/observed-call.ts';
import type { LoggedEvent } from './log-lines.ts';

/** Not the app's own object, which would never be collected. */
interface HeldHandle extends Pick<OpenHandle, 'settings' | 'handle'> {
  readonly app: WeakRef<object>;
}

/**
 * What a client shows of itself: its handles, its live queries, and the calls while there is an
 * observer. Without one a call costs the same as ever: observing replaces the calls of each handle.
 */
export class Inspection implements LiveRegistry {
  readonly #handles = new Set<HeldHandle>();
  readonly #logged = new Set<string>();
  readonly lives = new Set<LiveActivity>();
  /** Options of calls that no observer sees: those of the devtools. */
  readonly hidden = new WeakSet<object>();
  readonly #observers = new Set<CallObserver>();
  #isWatching = false;

  /** The handles that the app may use, in the order of their opening. */
  get handles(): OpenHandle[] {
    return Array.from(this.#handles).flatMap(({ app, settings, handle }) => {
      const collection = app.deref();
      return collection ? { collection, settings, handle } : [];
    });
  }

  /** @returns a function to call once the app's own object is collected. */
  opened({ collection, settings, handle }: OpenHandle): () => void {
    const held = { app: new WeakRef(collection), settings, handle };
    this.#handles.add(held);
    if (this.#isWatching) watchCalls(held, this);
    return () => void this.#handles.delete(held);
  }

  /**
   * Notes that the calls of a collection are printed. @returns whether they are printed already.
   */
  noteLogged(collection: string): boolean {
    const isLogged = this.#logged.has(collection);
    this.#logged.add(collection);
    return isLogged;
  }

  report(call: ObservedCall): void {
    for (const observer of this.#observers) callSafely(observer, call);
  }

  /** Observes calls that start from now on. @returns a function that ends it. */
  observe(observer: CallObserver): () => void {
    this.#observers.add(observer);
    if (!this.#isWatching) {
      this.#isWatching = true;
      for (const held of this.#handles) watchCalls(held, this);
    }
    return () => void this.#observers.delete(observer);
  }

  get isObserved(): boolean {
    return this.#observers.size > 0;
  }
}

interface Observers {
  readonly isObserved: boolean;
  readonly hidden: WeakSet<object>;
  readonly report: CallObserver;
}

type Method = (this: unknown, ...args: unknown[]) => Result<unknown>;

/** Not calls: the iterator decides how long they take, and a view makes calls of its own. */
const NO_CALLS: ReadonlySet<PropertyKey> = new Set(['stream', 'sendingTo', 'endView']);

/** Reports the calls of a handle from now on. */
function watchCalls(
  { handle, settings }: Pick<OpenHandle, 'handle' | 'settings'>,
  observers: Observers,
): void {
  handle.calls = new Proxy(handle.calls, {
    get(calls, name) {
      // Of the calls themselves: a proxy has no private fields.
      const method = Reflect.get(calls, name, calls) as unknown;
      if (typeof method !== 'function') return method;
      if (NO_CALLS.has(name) || !observers.isObserved) return method.bind(calls);
      return (sender: unknown, ...given: unknown[]) => {
        const start = () => (method as Method).call(calls, sender, ...given);
        const args = given.slice(0, given.findLastIndex((arg) => arg !== undefined) + 1);
        if (args.some((arg) => observers.hidden.has(arg as object))) return start();
        return observed(start, (outcome, duration_ms) =>
          observers.report({
            collection: settings.name,
            method: String(name),
            args,
            at: new Date(Date.now() - duration_ms),
            duration_ms,
            ...outcome,
          }),
        );
      };
    },
  });
}

type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** Runs a call, and reports how it ended. Sends its first request at once, like the call itself. */
function* observed(
  start: () => Result<unknown>,
  report: (outcome: Outcome, duration_ms: number) => void,
): Coroutine<unknown> {
  const began = performance.now();
  try {
    const result = yield* outcome(start());
    report({ result }, performance.now() - began);
    return result;
  } catch (error) {
    report({ error }, performance.now() - began);
    throw error;
  }
}

interface EventSource {
  on(name: EventName, listener: Listener<EventName>): () => void;
}

const LOGGED: readonly LoggedEvent[] = ['save', 'index', 'restore', 'error', 'slow_query'];

/**
 * Prints the calls and events of a collection: the option `detailed_debugger_logs`. The printing
 * loads meanwhile.
 */
export function logHandle(inspection: Inspection, { settings, collection }: OpenHandle): void {
  const loading = import('./log-lines.ts').catch((error: unknown) => {
    console.warn('cairndb: the code of detailed_debugger_logs did not load.', error);
  });
  const { name } = settings;
  for (const event of LOGGED) {
    (collection as EventSource).on(event, (detail) => {
      void loading.then((lines) => lines?.logEvent(name, event, detail as never));
    });
  }
  inspection.observe((call) => {
    if (call.collection === name) void loading.then((lines) => lines?.logCall(call));
  });
}
