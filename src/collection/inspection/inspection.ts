import { callSafely } from '../emitter.ts';
import type { CallObserver, LiveActivity, LiveRegistry, ObservedCall } from './observed-call.ts';
import type { OpenHandle } from './open-handle.ts';
import { watchCalls } from './watch-calls.ts';

/**
 * What a client shows of itself: its handles, its live queries, and the calls while there is an observer. Without one
 * a call costs the same as ever: observing replaces the calls of each handle.
 */
export class Inspection implements LiveRegistry {
  readonly handles: OpenHandle[] = [];
  readonly lives = new Set<LiveActivity>();
  /** Options of calls that no observer sees: those of the devtools. */
  readonly hidden = new WeakSet<object>();
  readonly #observers = new Set<CallObserver>();
  #isWatching = false;

  opened(handle: OpenHandle): void {
    this.handles.push(handle);
    if (this.#isWatching) watchCalls(handle, this);
  }

  /** Whether a handle of the collection prints its calls. */
  isLogged(collection: string): boolean {
    return this.handles.some(
      ({ settings }) => settings.name === collection && settings.detailed_debugger_logs,
    );
  }

  report(call: ObservedCall): void {
    for (const observer of this.#observers) callSafely(observer, call);
  }

  /** Observes calls that start from now on. @returns a function that ends it. */
  observe(observer: CallObserver): () => void {
    this.#observers.add(observer);
    if (!this.#isWatching) {
      this.#isWatching = true;
      for (const handle of this.handles) watchCalls(handle, this);
    }
    return () => void this.#observers.delete(observer);
  }

  get isObserved(): boolean {
    return this.#observers.size > 0;
  }
}
