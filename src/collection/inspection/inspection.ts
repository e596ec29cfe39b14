import { callSafely } from '../emitter.ts';
import type { CallObserver, LiveActivity, LiveRegistry, ObservedCall } from './observed-call.ts';
import type { OpenHandle } from './open-handle.ts';
import { watchCalls } from './watch-calls.ts';

/** Not the app's own object, which would never be collected. */
interface HeldHandle extends Pick<OpenHandle, 'settings' | 'handle'> {
  readonly app: WeakRef<object>;
}

/**
 * What a client shows of itself: its handles, its live queries, and the calls while there is an observer. Without one
 * a call costs the same as ever: observing replaces the calls of each handle.
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

  /** Notes that the calls of a collection are printed. @returns whether they are printed already. */
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
