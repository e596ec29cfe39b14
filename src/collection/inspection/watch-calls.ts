import { type Coroutine, isCoroutine, type Result } from '../../engine/scheduling/coroutine.ts';
import type { CallObserver } from './observed-call.ts';
import type { OpenHandle } from './open-handle.ts';

interface Observers {
  readonly isObserved: boolean;
  readonly hidden: WeakSet<object>;
  readonly report: CallObserver;
}

type Method = (this: unknown, ...args: unknown[]) => Result<unknown>;

/** Not calls: the iterator decides how long they take, and a view makes calls of its own. */
const NO_CALLS: ReadonlySet<PropertyKey> = new Set(['stream', 'sendingTo', 'endView']);

/** Reports the calls of a handle from now on. */
export function watchCalls(
  { handle, settings }: Pick<OpenHandle, 'handle' | 'settings'>,
  observers: Observers,
): void {
  handle.calls = new Proxy(handle.calls, {
    get(calls, name) {
      // Of the calls themselves: a proxy has no private fields.
      const method = Reflect.get(calls, name, calls) as unknown;
      if (typeof method !== 'function') return method;
      if (NO_CALLS.has(name) || !observers.isObserved) return method.bind(calls);
      return (sender: unknown, ...args: unknown[]) => {
        const start = () => (method as Method).call(calls, sender, ...args);
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
    const call = start();
    const result = isCoroutine(call) ? yield* call : call;
    report({ result }, performance.now() - began);
    return result;
  } catch (error) {
    report({ error }, performance.now() - began);
    throw error;
  }
}
