import {
  type ComputedRef,
  computed,
  getCurrentInstance,
  onMounted,
  type ShallowRef,
  shallowRef,
  watch,
} from 'vue';
import { eachField } from '../core/each-field.ts';
import { keep, noteShown, type Shown, type Source, withData } from '../core/hook-result.ts';

/** The fields of a result as refs; its methods. */
export type Refs<R, Name extends keyof R = keyof R> = {
  readonly [Each in Name]: R[Each] extends (...args: never) => unknown
    ? R[Each]
    : ComputedRef<R[Each]>;
};

/** The state of a source as a ref, until the scope ends. */
export function useSourceRef<R extends object>(make: () => Source<R>): Readonly<ShallowRef<R>> {
  // The element of a component that Vue hydrates comes from the server.
  let isHydrating = Boolean(getCurrentInstance()?.vnode.el);
  let shown: Shown | undefined;
  const source = computed<Source<R>>((before) => keep(before, make()));
  const changed = shallowRef();
  const show = () => {
    changed.value = {};
  };
  // Computed, so that what is read or called in the tick of a change belongs to the new arguments.
  const state = computed(() => {
    void changed.value;
    const from = source.value;
    const result = isHydrating ? from.start : from.view();
    const filled = withData(result, from, shown);
    shown = noteShown(from, result, shown);
    return filled;
  });
  watch(
    source,
    (from, _, onCleanup) => {
      // On a server nothing starts.
      if (typeof window !== 'undefined') onCleanup(from.subscribe(show));
      show();
    },
    { immediate: true },
  );
  if (isHydrating) {
    onMounted(() => {
      isHydrating = false;
      show();
    });
  }
  return state;
}

/** The state of a source as one ref for each field. */
export function useSource<R extends object>(make: () => Source<R>): Refs<R> {
  const state = useSourceRef(make);
  const current = () => state.value;
  return eachField(current(), current, (name) =>
    computed(() => current()[name as keyof R]),
  ) as Refs<R>;
}
