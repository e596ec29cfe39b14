import { loadFailed } from '../../errors/errors.ts';
import { isNone, type Running, type Source } from './hook-result.ts';

type SubscribedCode = typeof import('./subscribed.ts').subscribed;

/**
 * Code that did not load is not requested again sooner: a component that shows the error may render
 * again at once.
 */
const RETRY_MS = 5000;

let code: SubscribedCode | undefined;
let loading: Promise<SubscribedCode> | undefined;
let failure: unknown;
/** What sources show after a failure, by what they show at first. */
let failed = new WeakMap<object, object>();
/** The subscriptions that wait for the code, those that show the error as well. */
const waiting = new Set<() => void>();
let unnamed = 0;

/** The code, once it has loaded. */
export const subscribedCode = () => code;

/** Loads it, with the first component that subscribes. @throws {CairnError} `load_failed` */
export function loadSubscribedCode(): Promise<SubscribedCode> {
  loading ??= import('./subscribed.ts').catch(loadFailed).then(
    ({ subscribed }) => {
      code = subscribed;
      tellAll();
      return subscribed;
    },
    (error) => {
      failure = error;
      failed = new WeakMap();
      setTimeout(() => {
        loading = undefined;
      }, RETRY_MS);
      tellAll();
      throw error;
    },
  );
  return loading;
}

function tellAll(): void {
  // Each for itself: what one throws must not keep it from others.
  for (const begin of waiting) queueMicrotask(begin);
}

/**
 * A source that runs once its code is there. Until then it shows `start`, or that the code did not
 * load.
 *
 * @param name What keeps it the same source until it has its key; if left out, each is another.
 */
export function lazySource<R extends object>(
  source: Pick<Source<R>, 'collection' | 'start' | 'is_list' | 'initial'>,
  make: (code: SubscribedCode) => Running<R>,
  name?: string,
): Source<R> {
  const { collection, start } = source;
  const isOff = isNone(collection);
  const own = name ?? (isOff ? 'off' : `${unnamed++}`);
  let running: Running<R> | undefined;
  const run = () => {
    if (!isOff && code) running ??= make(code);
    return running;
  };
  // Here, for its errors, and because frameworks track what is read of reactive arguments.
  run();
  const waitingView = () => {
    if (!failure || isOff) return start;
    const view = failed.get(start) ?? { ...start, status: 'error', error: failure };
    failed.set(start, view);
    return view as R;
  };
  const view = () => run()?.view() ?? waitingView();
  return {
    ...source,
    get key() {
      return run()?.key ?? own;
    },
    view,
    forget: () => running?.forget?.(),
    subscribe: (listener) => {
      let stop = run()?.subscribe(listener);
      if (stop || isOff) return stop ?? (() => undefined);
      const before = view();
      const begin = () => {
        if (!waiting.has(begin)) return;
        try {
          stop ??= run()?.subscribe(listener);
        } catch (error) {
          // A wrong argument: what subscribes later throws it. There is no caller here.
          const refused = { ...start, status: 'error', error };
          running = { key: own, subscribe: () => () => undefined, view: () => refused };
        }
        // The listener may have left meanwhile.
        if (!waiting.has(begin)) stop?.();
        else if (view() !== before) listener();
      };
      waiting.add(begin);
      // `begin` shows the failure.
      loadSubscribedCode().catch(() => undefined);
      return () => {
        waiting.delete(begin);
        stop?.();
      };
    },
  };
}
