import { OptionError } from '../../errors/option-error.ts';
import type { LiveResult, Source } from './hook-result.ts';

/**
 * A component that suspends may take so long, after the result, until it commits; then its query ends. Long: hundreds below one
 * boundary commit together, with the last of them.
 */
const UNCOMMITTED_MS = 60_000;

/** So many results that components have waited for and not come back to read are an endless loop. */
const MOST_UNREAD = 1000;

/** The error of a component that would render for ever. */
export function otherQuery(): OptionError {
  return new OptionError(
    'option_invalid',
    'The query is another in each render: make collections, functions and dates outside, or give `key`.',
  );
}

/** A query that a component waits for. */
interface Wait {
  readonly settled: Promise<void>;
  /** Whether the result is there and nobody has read it. */
  isUnread: boolean;
  end: () => void;
}

/** By collection and key: React throws away what a render makes that suspends. */
const waits = new WeakMap<object, Map<string, Wait>>();

/**
 * Runs a query, also without readers, until it has a result and a while longer.
 *
 * @throws {OptionError} `option_invalid` in an endless loop.
 */
export function settled(source: Source<LiveResult<unknown>>): Promise<void> {
  const collection = source.collection as object;
  const all = waits.get(collection) ?? new Map<string, Wait>();
  waits.set(collection, all);
  const waiting = all.get(source.key);
  if (waiting) return waiting.settled;
  const unread = [...all.values()].filter(({ isUnread }) => isUnread);
  if (unread.length > MOST_UNREAD) {
    // In a later turn: React renders twice what throws.
    setTimeout(() => {
      for (const { end } of unread) end();
    });
    throw otherQuery();
  }
  let resolve: () => void;
  const wait: Wait = {
    settled: new Promise<void>((settle) => {
      resolve = settle;
    }),
    isUnread: false,
    end: () => undefined,
  };
  all.set(source.key, wait);
  const leave = source.subscribe(() => {
    const { status } = source.view();
    if (status === 'pending' || wait.isUnread) return;
    wait.isUnread = true;
    resolve();
    setTimeout(() => wait.end(), UNCOMMITTED_MS);
  });
  wait.end = () => {
    leave();
    if (all.get(source.key) === wait) all.delete(source.key);
  };
  return wait.settled;
}

/** Notes that a component has come back for the result. */
export function noteRead({ collection, key }: Source<unknown>): void {
  waits.get(collection as object)?.delete(key);
}
