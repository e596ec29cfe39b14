import { loadFailed } from '../../collection/calls/first-call.ts';
import type { Running, Source } from './hook-result.ts';

type SubscribedCode = typeof import('./subscribed.ts').subscribed;

let code: SubscribedCode | undefined;
let loading: Promise<void> | undefined;
let failure: unknown;
let unnamed = 0;

/** The code, once it has loaded. */
export const subscribedCode = () => code;

/** Resolves when the code is there, or has failed to load: then sources show the error, until one is subscribed to anew. */
export function loadSubscribedCode(): Promise<void> {
  loading ??= import('./subscribed.ts').catch(loadFailed).then(
    ({ subscribed }) => {
      code = subscribed;
    },
    (error) => {
      failure = error;
      loading = undefined;
    },
  );
  return loading;
}

/**
 * A source that runs once its code is there, which loads when the first component subscribes. Until then it shows `start`.
 *
 * @param name What keeps it the same source until it has its key; if left out, each is another.
 */
export function lazySource<R extends object>(
  source: Pick<Source<R>, 'collection' | 'start' | 'is_list' | 'initial'>,
  make: (code: SubscribedCode) => Running<R>,
  name: string = `${unnamed++}`,
): Source<R> {
  const { collection, start } = source;
  let running: Running<R> | undefined;
  let failed: R | undefined;
  const run = () => {
    if (collection && code) running ??= make(code);
    return running;
  };
  // Here, for its errors, and because frameworks track what is read of reactive arguments.
  run();
  const view = () => {
    if (failure) failed ??= { ...start, status: 'error', error: failure };
    return run()?.view() ?? failed ?? start;
  };
  const forget = () => {
    failed = failure = undefined;
    running?.forget?.();
  };
  return {
    ...source,
    get key() {
      return run()?.key ?? name;
    },
    view,
    forget,
    subscribe: (listener) => {
      let stop = run()?.subscribe(listener);
      if (stop || !collection) return stop ?? (() => undefined);
      let isLeft = false;
      forget();
      void loadSubscribedCode().then(() => {
        if (isLeft) return;
        stop = run()?.subscribe(listener);
        if (view() !== start) listener();
      });
      return () => {
        isLeft = true;
        stop?.();
      };
    },
  };
}
