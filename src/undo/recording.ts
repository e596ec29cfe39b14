import { copyArgument } from '../page/sending/call-arguments.ts';
import { notAwaited, type TransactionCall } from '../page/transactions/transaction-errors.ts';
import type { Transaction } from '../page/transactions/transaction-types.ts';
import { parseKey } from '../query/path/key-path.ts';
import {
  type AnyCollection,
  type AnyMethods,
  isSame,
  type MaybeState,
  methodsIn,
  readStates,
} from './record-states.ts';

export interface RecordedChange {
  readonly id: string;
  readonly before: MaybeState;
  readonly after: MaybeState;
}

export type RecordedChanges = ReadonlyMap<AnyCollection, readonly RecordedChange[]>;

/** Ids of the records that a call may change or delete, asked before it runs. */
type Affected = (methods: AnyMethods, args: readonly never[]) => unknown[] | Promise<unknown[]>;

const idOf = (document: { readonly _id?: unknown } | undefined) => document?._id;
const none: Affected = () => [];
const byId: Affected = (_, [id]) => [id];
const byKey: Affected = (_, [key]) => [parseKey(key)[0]];

/** @param at Position of the options. */
const matches =
  (at: number): Affected =>
  async (methods, args) => {
    const { archived, collation, where } = args[at] ?? ({} as never);
    return (await methods.filter(args[0] as never, { archived, collation, where })).map(idOf);
  };

const firstMatch =
  (at: number): Affected =>
  async (methods, args) => {
    const { archived, collation, where, sort } = args[at] ?? ({} as never);
    return [idOf(await methods.find(args[0] as never, { archived, collation, where, sort }))];
  };

/** The methods that change documents. */
const documentWrites: Readonly<Record<string, Affected>> = {
  insert: none,
  insertMany: none,
  upsert: (_, [document]) => [idOf(document)],
  upsertMany: (_, [documents]) => [documents ?? []].flat().map(idOf),
  update: byId,
  patch: byId,
  patchMany: matches(2),
  patchOne: firstMatch(2),
  archive: byId,
  unarchive: byId,
  delete: byId,
  deleteMany: matches(1),
  deleteOne: firstMatch(1),
};

const valueWrites: Readonly<Record<string, Affected>> = {
  set: byKey,
  delete: byKey,
  push: byKey,
  remove: byKey,
  increase: byKey,
  decrease: byKey,
};

/** The methods of a collection that change it, but for `modify`. */
export function writesOf({ type }: AnyCollection): Readonly<Record<string, Affected>> {
  return type === 'DOCUMENT_BASED' ? documentWrites : valueWrites;
}

/** One run of a transaction: notes what records were like before it changed them. */
export class Recording {
  readonly #tx: Transaction;
  readonly #before = new Map<AnyCollection, Map<string, MaybeState>>();
  /** Calls on collections with a history run one after the other, as they were made. */
  #last: Promise<unknown> = Promise.resolve();
  /** Calls that have not ended. */
  readonly #running = new Map<TransactionCall, Promise<unknown>>();

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  /** The transaction, for the caller's function. */
  scope(isRecorded: (collection: unknown) => boolean): Transaction {
    const scope = (collection: AnyCollection) => {
      const methods = methodsIn(this.#tx, collection);
      return isRecorded(collection) ? this.#recorded(collection, methods) : methods;
    };
    return scope as unknown as Transaction;
  }

  /**
   * What the run has changed.
   *
   * @throws {TransactionError} `transaction_misused` while a call runs
   */
  async changes(): Promise<RecordedChanges> {
    const [unawaited] = this.#running.keys();
    // This error stands for theirs.
    for (const result of this.#running.values()) result.catch(() => undefined);
    if (unawaited) throw notAwaited(unawaited);
    const changes = new Map<AnyCollection, readonly RecordedChange[]>();
    for (const [collection, states] of this.#before) {
      const methods = methodsIn(this.#tx, collection);
      const after = await readStates(collection, methods, [...states.keys()]);
      const changed: RecordedChange[] = [];
      for (const [at, [id, before]] of [...states].entries()) {
        const now = after[at];
        if (!(await isSame(before, now))) changed.push({ id, before, after: now });
      }
      if (changed.length > 0) changes.set(collection, changed);
    }
    return changes;
  }

  #recorded(collection: AnyCollection, methods: AnyMethods): object {
    const writes = writesOf(collection);
    return new Proxy(methods, {
      get: (_, name) => {
        const method = Reflect.get(methods, name);
        if (typeof method !== 'function') return method;
        return (...given: never[]) => {
          const args = given.map(copyArgument) as never[];
          const call = { collection: collection.name, method: String(name), first: args[0] };
          return this.#inTurn(call, async () => {
            const affected = Object.hasOwn(writes, name) ? writes[name as string] : undefined;
            if (affected) await this.#note(collection, methods, await affected(methods, args));
            const result = await method.apply(methods, args);
            if (affected) this.#noteNew(collection, result);
            return result;
          });
        };
      },
    });
  }

  #inTurn<T>(call: TransactionCall, run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run).finally(() => this.#running.delete(call));
    this.#running.set(call, result);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #note(collection: AnyCollection, methods: AnyMethods, ids: readonly unknown[]) {
    const states = this.#statesOf(collection);
    const unread = new Set(
      ids.filter((id): id is string => typeof id === 'string' && id !== '' && !states.has(id)),
    );
    const before = await readStates(collection, methods, [...unread]);
    for (const [at, id] of [...unread].entries()) states.set(id, before[at]);
  }

  /** A document of a result that was not read before the call is a new one. */
  #noteNew(collection: AnyCollection, result: unknown): void {
    if (collection.type !== 'DOCUMENT_BASED') return;
    const states = this.#statesOf(collection);
    for (const document of Array.isArray(result) ? result : [result]) {
      const id = idOf(document);
      if (typeof id === 'string' && !states.has(id)) states.set(id, undefined);
    }
  }

  #statesOf(collection: AnyCollection): Map<string, MaybeState> {
    const states = this.#before.get(collection) ?? new Map<string, MaybeState>();
    this.#before.set(collection, states);
    return states;
  }
}
