import type { Result } from '../../async/coroutine.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { Sender } from './sender.ts';

/** The checked arguments of a query. */
export interface Search {
  /** A copy of the criteria, or a function. */
  readonly params: object;
  readonly given: Readonly<Record<string, unknown>>;
  readonly collation: string | undefined;
  /** Copies of the caller's. */
  readonly sort: object | undefined;
  readonly select: object | undefined;
}

/** A call that has ended, as an observer sees it. */
export interface ObservedCall {
  readonly collection: string;
  /** Name of the method; `live` and its kin for the first result of a live query. */
  readonly method: string;
  /** The caller's own arguments. */
  readonly args: readonly unknown[];
  /** When the call began. */
  readonly at: Date;
  /** Milliseconds from the call to its result. */
  readonly duration_ms: number;
  /** Of a call that succeeded. */
  readonly result?: unknown;
  /** Of a call that failed. */
  readonly error?: unknown;
}

export type CallObserver = (call: ObservedCall) => void;

/** A live query that runs in this page, and how often it emitted. */
export interface LiveActivity {
  readonly collection: string;
  /** The arguments of a query for documents or their count. */
  readonly search: Search | undefined;
  /** The method and arguments of any query but one for one document or value. */
  readonly call: Pick<ObservedCall, 'method' | 'args'> | undefined;
  /** Of a query for one document or value. */
  readonly key: Key | undefined;
  readonly count: boolean;
  /** When it started. */
  readonly since: Date;
  /** Number of snapshots so far. */
  readonly emissions: number;
  readonly last_emission: Date | undefined;
  /** Milliseconds from the start to the first result. */
  readonly first_ms: number | undefined;
  readonly status: 'pending' | 'ready' | 'error';
  /** Number of documents of its data, or the count. */
  readonly documents: number | undefined;
  readonly error: Error | undefined;
}

/** Where live queries enter themselves while they run. */
export interface LiveRegistry {
  readonly lives: Set<LiveActivity>;
  report(call: ObservedCall): void;
}

/**
 * Registered: `cairndb/devtools` imports no code of the library, so it works with whichever copy
 * made the database. docs/decisions/030-devtools.md has the reasons.
 */
export const INSPECTION: unique symbol = Symbol.for('cairndb.inspection');

/** A handle of this page. */
export interface OpenHandle {
  /** The app's own collection object. */
  readonly collection: object;
  readonly settings: CollectionSettings;
  /** Replaced while somebody observes the calls. */
  readonly handle: {
    calls: object;
    readonly channel: { run<T>(start: (sender: Sender) => Result<T>): Promise<T> };
  };
}
