import {
  type Accessor,
  createEffect,
  createMemo,
  createSignal,
  onCleanup,
  sharedConfig,
} from 'solid-js';
import { eachField } from '../core/each-field.ts';
import { keep, noteShown, type Shown, type Source, withData } from '../core/hook-result.ts';

/** The fields of a result as accessors; its methods. */
export type Accessors<R, Name extends keyof R = keyof R> = {
  readonly [Each in Name]: R[Each] extends (...args: never) => unknown
    ? R[Each]
    : Accessor<R[Each]>;
};

/** The state of a source as an accessor, until its owner is disposed. */
export function useSourceAccessor<R extends object>(make: () => Source<R>): Accessor<R> {
  let isHydrating = Boolean(sharedConfig.context);
  let shown: Shown | undefined;
  const [changed, change] = createSignal(undefined, { equals: false });
  const source = createMemo<Source<R>>((before) => keep(before, make()));
  const result = createMemo(() => {
    changed();
    return isHydrating ? source().start : source().view();
  });
  // Effects do not run on a server.
  createEffect(() => {
    onCleanup(source().subscribe(change));
    isHydrating = false;
    change();
  });
  return createMemo(() => {
    const now = withData(result(), source(), shown);
    shown = noteShown(source(), result(), shown);
    return now;
  });
}

/** The state of a source as one accessor for each field. */
export function useSource<R extends object>(make: () => Source<R>): Accessors<R> {
  const state = useSourceAccessor(make);
  return eachField(state(), state, (name) =>
    createMemo(() => state()[name as keyof R]),
  ) as Accessors<R>;
}
