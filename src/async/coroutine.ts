import { notInMemory } from '../errors/errors.ts';

/**
 * A computation that may have to wait. It yields the promises it waits for, and gets their values.
 * On resident data it never yields, and runs without a turn of the event loop.
 * docs/decisions/006-coroutines.md says why calls are written so.
 */
export type Coroutine<T> = Generator<Promise<unknown>, T, unknown>;

export type Result<T> = T | Coroutine<T>;

export function isCoroutine<T>(result: Result<T>): result is Coroutine<T> {
  return typeof (result as { next?: unknown } | undefined)?.next === 'function';
}

/** A result, within a coroutine. */
export function* outcome<T>(result: Result<T>): Coroutine<T> {
  return isCoroutine(result) ? yield* result : result;
}

export function* wait<T>(promise: Promise<T>): Coroutine<T> {
  return (yield promise) as T;
}

/** Runs a coroutine. The result is a promise only if it had to wait. */
export function run<T>(work: Result<T>): T | Promise<T> {
  if (!isCoroutine(work)) return work;
  const step = work.next();
  return step.done ? step.value : finish(work, step.value);
}

/** Runs a coroutine that must not wait, or throws. */
export function runSync<T>(work: Result<T>, place: string): T {
  if (!isCoroutine(work)) return work;
  const step = work.next();
  if (step.done) return step.value;
  step.value.catch(() => undefined);
  work.return(undefined as never);
  throw notInMemory(place, 'the cache was cleared; await collection.ready first');
}

async function finish<T>(work: Coroutine<T>, first: Promise<unknown>): Promise<T> {
  for (let waiting = first; ; ) {
    let step: IteratorResult<Promise<unknown>, T>;
    try {
      step = work.next(await waiting);
    } catch (error) {
      step = work.throw(error);
    }
    if (step.done) return step.value;
    waiting = step.value;
  }
}
