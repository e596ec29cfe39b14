import { flushSync } from 'svelte';
import { createSubscriber } from 'svelte/reactivity';
import { fromStore, toStore } from 'svelte/store';
import { keep, noteShown, type Shown, type Source, withData } from '../core/hook-result.ts';

/** The fields of a result, and the result as a whole, which TypeScript narrows by `status`. */
export type Current<R, Name extends keyof R = keyof R> = { readonly current: R } & {
  readonly [Each in Name]: R[Each];
};

/** The state of a source. It is followed while an effect or a template reads it. */
export function useCurrent<R extends object>(make: () => Source<R>): { readonly current: R } {
  let before: Source<R> | undefined;
  let shown: Shown | undefined;
  const subscribers = new WeakMap<Source<R>, () => void>();
  // What the arguments read is tracked once, not by each reader: a function written inline would be new each time.
  const source = fromStore(
    toStore(() => {
      before = keep(before, make());
      return before;
    }),
  );
  return {
    get current() {
      const from = source.current;
      const follow = subscribers.get(from) ?? createSubscriber(from.subscribe);
      subscribers.set(from, follow);
      follow();
      const result = from.view();
      const filled = withData(result, from, shown);
      shown = noteShown(from, result, shown);
      return filled;
    },
  };
}

/** The state of a source with a getter for each field. */
export function useSource<R extends object>(make: () => Source<R>): Current<R> {
  const state = useCurrent(make);
  for (const [name, value] of Object.entries(make().start)) {
    const call = (...args: unknown[]) => {
      // What is called in the tick of a change belongs to the new arguments.
      flushSync();
      return (state.current[name as keyof R] as (...given: unknown[]) => unknown)(...args);
    };
    if (typeof value === 'function') Object.assign(state, { [name]: call });
    else
      Object.defineProperty(state, name, {
        get: () => state.current[name as keyof R],
        enumerable: true,
      });
  }
  return state as Current<R>;
}
