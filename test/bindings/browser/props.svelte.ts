/** Props that Svelte tracks. */
export function reactiveProps<P>(first: P): { current: P } {
  let current = $state.raw(first);
  return {
    get current() {
      return current;
    },
    set current(next) {
      current = next;
    },
  };
}

/** An object that Svelte tracks with all that it holds. */
export function deepState<S extends object>(first: S): S {
  const state = $state(first);
  return state as S;
}
