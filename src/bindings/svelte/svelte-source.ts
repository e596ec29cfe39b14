import { untrack } from 'svelte';
import { createSubscriber } from 'svelte/reactivity';
import { fromStore, type Readable, toStore } from 'svelte/store';
import { keep, noteShown, type Shown, type Source, withData } from '../core/hook-result.ts';

/** The fields of a result, and the result as a whole, which TypeScript narrows by `status`. */
export type Current<R, Name extends keyof R = keyof R> = { readonly current: R } & {
  readonly [Each in Name]: R[Each];
};

/** The state of a source. It is followed while an effect or a template reads it. */
export function useCurrent<R extends object>(make: () => Source<R>): { readonly current: R } {
  let shown: Shown | undefined;
  const subscribers = new WeakMap<Source<R>, () => void>();
  const source = useNewest(make);
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

/** The source of the arguments as they are. */
function useNewest<R extends object>(make: () => Source<R>): { readonly current: Source<R> } {
  let newest: Source<R> | undefined;
  let isFollowed = false;
  // What the arguments read is tracked once, not by each reader: a function written inline would be new each time.
  const tracked = toStore(() => {
    newest = keep(newest, make());
    return newest;
  });
  const subscribe: Readable<Source<R>>['subscribe'] = (take) => {
    if (isFollowed) {
      // An event handler reads. What has changed in the same tick reaches effects and templates after it.
      const [fresh, again] = [make(), make()];
      if (keep(fresh, again) === fresh) newest = keep(newest, fresh);
      take(newest as Source<R>);
      return () => undefined;
    }
    isFollowed = true;
    const leave = tracked.subscribe(take);
    return () => {
      isFollowed = false;
      leave();
    };
  };
  return fromStore({ subscribe });
}

/** The state of a source with a getter for each field. */
export function useSource<R extends object>(make: () => Source<R>): Current<R> {
  const state = useCurrent(make);
  for (const [name, value] of Object.entries(make().start)) {
    // Untracked: an effect that calls one need not run again, and calls that of the arguments as they are.
    const call = (...args: unknown[]) =>
      (untrack(() => state.current)[name as keyof R] as (...given: unknown[]) => unknown)(...args);
    if (typeof value === 'function') Object.assign(state, { [name]: call });
    else
      Object.defineProperty(state, name, {
        get: () => state.current[name as keyof R],
        enumerable: true,
      });
  }
  return state as Current<R>;
}
