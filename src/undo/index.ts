import type { AnyDocument } from '../api/document-types.ts';
import { checkOptions, integer } from '../api/options/option-checks.ts';
import type { TransactionOptions } from '../api/transaction-options.ts';
import { callSafely, checkListener } from '../async/emitter.ts';
import { CollectionError, OptionError } from '../errors/errors.ts';
import { documentReads } from '../page/calls/document-methods.ts';
import { keyValueReads } from '../page/calls/key-value-methods.ts';
import type { DatabaseClient } from '../page/client/database-client.ts';
import { REPLICATION, type ReplicationAccess } from '../page/collections/replication-access.ts';
import { copyArgument } from '../page/sending/call-arguments.ts';
import type { Transaction } from '../page/transactions/transaction-types.ts';
import {
  type AnyCollection,
  type KeptPart,
  methodsIn,
  readStates,
  stateBetween,
  writeState,
} from './record-states.ts';
import { type RecordedChange, type RecordedChanges, Recording, writesOf } from './recording.ts';

/** A collection that a history can record: of documents, or of keys and values. */
export interface UndoableCollection extends AnyCollection {
  readonly [REPLICATION]: object;
}

/** Options of {@link undo}. */
export interface UndoOptions {
  /** The collections whose changes are recorded. They must belong to the database. */
  collections: readonly UndoableCollection[];
  /** How many steps are kept; the oldest go first. @default 100 */
  limit?: number | undefined;
}

/** What can be undone and redone now. Frozen: each change makes a new one. */
export interface UndoSnapshot {
  readonly can_undo: boolean;
  readonly can_redo: boolean;
  /** The label of the step that `undo()` would take back. */
  readonly undo_label: string | undefined;
  readonly redo_label: string | undefined;
}

/** A part of a step that `undo()` or `redo()` left as it is, as others have changed it since. */
export interface UndoSkip extends KeptPart {
  readonly collection: string;
  /** Of the document, or the name of the record. */
  readonly id: string;
}

/** What `undo()` or `redo()` did. */
export interface UndoSummary {
  readonly label: string | undefined;
  /** How many records were changed. */
  readonly changed: number;
  readonly skipped: readonly UndoSkip[];
}

interface Step {
  readonly label: string | undefined;
  readonly changes: RecordedChanges;
}

/** A call without a history never gives up because others were quicker. */
const PATIENT: TransactionOptions = { retries: 1000 };

/** What else must not overtake changes: those of a collection, and of the database. */
const LATER = [
  ...['save', 'createBackup', 'listBackups', 'loadBackup', 'deleteBackup', 'restoreDocument'],
  ...['exportBackup', 'importBackup', 'verify', 'explain', 'Drop'],
];
const LATER_OF_DATABASE = [
  ...['save', 'close', 'destroy', 'collections', 'renameCollection', 'exportAll', 'importAll'],
];

type Method = (...args: never[]) => unknown;
type Target = Record<string, Method>;

/**
 * What this tab changed in some collections, by transaction, to be undone and redone. Made by
 * {@link undo}. `subscribe` and `getSnapshot` need no `this`: they are the arguments of React's
 * `useSyncExternalStore`.
 */
export class UndoHistory {
  readonly #transaction: DatabaseClient['transaction'];
  readonly #collections: ReadonlySet<unknown>;
  readonly #limit: number;
  readonly #listeners = new Set<{ readonly listener: (snapshot: UndoSnapshot) => void }>();
  readonly #unwraps: (() => void)[] = [];
  #past: Step[] = [];
  #future: Step[] = [];
  #snapshot: UndoSnapshot;
  /** Calls take effect in the order in which they are made. */
  #last: Promise<unknown> = Promise.resolve();
  /** How many calls have not ended. */
  #running = 0;
  #isOver = false;

  /** @internal */
  constructor(db: DatabaseClient, options: UndoOptions) {
    const { collections, limit } = checkOptions(options, checks, 'undo(db, options)');
    const recorded = collections as readonly UndoableCollection[];
    for (const collection of recorded) checkCollection(collection, db);
    this.#collections = new Set(recorded);
    this.#limit = limit as number;
    this.#snapshot = this.#newSnapshot();
    // Without another history's: that one records the transactions of this one.
    this.#transaction = db.transaction.bind(db);
    for (const collection of recorded) this.#wrapMethods(collection);
    const record: Method = (run: never, given: never) => this.#record(undefined, run, given);
    this.#wrap(db, 'transaction', () => this.#afterCalls(record));
    for (const name of LATER_OF_DATABASE) this.#wrap(db, name, this.#afterCalls);
  }

  /** Whether there is a step that `undo()` takes back. */
  get can_undo(): boolean {
    return this.#snapshot.can_undo;
  }

  /** Whether there is a step that `redo()` reapplies. */
  get can_redo(): boolean {
    return this.#snapshot.can_redo;
  }

  /** The current snapshot: the same object until it changes. */
  readonly getSnapshot = (): UndoSnapshot => this.#snapshot;

  /** Calls the listener with each new snapshot. @returns a function that ends it. */
  readonly subscribe = (listener: (snapshot: UndoSnapshot) => void): (() => void) => {
    checkListener(listener);
    const own = { listener };
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  };

  /**
   * Runs a transaction whose changes are one step of this name, as `db.transaction()` does.
   *
   * @example
   * ```ts
   * await history.transaction('Move the box', (tx) => tx(shapes).patch(id, { x: 5 }));
   * ```
   */
  transaction<T>(
    label: string,
    run: (tx: Transaction) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    const record = () => this.#record(label, run, options);
    return this.#afterCalls(record)() as Promise<T>;
  }

  /**
   * Takes the last step back, in one transaction. What others have changed since stays, and
   * `skipped` names it.
   *
   * @returns `undefined` if there is no step.
   * @throws {CollectionError} `undo_gone` if everything that the step changed was deleted since:
   *   the step is then forgotten. Other errors leave it, so that the call can be repeated.
   */
  undo(): Promise<UndoSummary | undefined> {
    return this.#inTurn(() => this.#revert(this.#past, this.#future));
  }

  /** Reapplies what the last `undo()` took back; as {@link undo}. */
  redo(): Promise<UndoSummary | undefined> {
    return this.#inTurn(() => this.#revert(this.#future, this.#past));
  }

  /** Forgets all steps. */
  clear(): void {
    this.#past = [];
    this.#future = [];
    this.#emit();
  }

  /** Ends the recording, and forgets all steps. */
  stop(): void {
    this.#isOver = true;
    for (const unwrap of this.#unwraps.splice(0)) unwrap();
    this.clear();
  }

  async #record<T>(
    label: string | undefined,
    run: (tx: Transaction) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    if (typeof run !== 'function') return this.#transaction(run, options); // refuses it
    let changes: RecordedChanges | undefined;
    const result = await this.#transaction(async (tx) => {
      const recording = new Recording(tx);
      const returned = await run(recording.scope((one) => this.#collections.has(one)));
      changes = await recording.changes();
      return returned;
    }, options);
    if (changes?.size && !this.#isOver) {
      this.#push(this.#past, { label, changes });
      this.#future = [];
      this.#emit();
    }
    return result;
  }

  async #revert(from: Step[], to: Step[]): Promise<UndoSummary | undefined> {
    const step = from.at(-1);
    if (!step) return undefined;
    const forget = () => {
      const at = from.indexOf(step);
      if (at >= 0) from.splice(at, 1);
    };
    try {
      const { changes, skipped } = await this.#transaction((tx) => revertIn(tx, step), PATIENT);
      forget();
      const changed = [...changes.values()].reduce((sum, { length }) => sum + length, 0);
      if (changed > 0) this.#push(to, { label: step.label, changes });
      else if (skipped.length > 0 && skipped.every(({ reason }) => reason === 'gone'))
        throw gone(step);
      return { label: step.label, changed, skipped };
    } catch (error) {
      if (!/^collection_(?:dropped|renamed)$/.test(String((error as { code?: unknown }).code)))
        throw error;
      forget();
      throw gone(step, error);
    } finally {
      this.#emit();
    }
  }

  #push(steps: Step[], step: Step): void {
    if (steps.push(step) > this.#limit) steps.shift();
  }

  #newSnapshot(): UndoSnapshot {
    const [last, next] = [this.#past.at(-1), this.#future.at(-1)];
    return Object.freeze({
      can_undo: last !== undefined,
      can_redo: next !== undefined,
      undo_label: last?.label,
      redo_label: next?.label,
    });
  }

  #emit(): void {
    const snapshot = this.#newSnapshot();
    const before = this.#snapshot;
    const names = Object.keys(snapshot) as (keyof UndoSnapshot)[];
    if (names.every((name) => snapshot[name] === before[name])) return;
    this.#snapshot = snapshot;
    for (const { listener } of [...this.#listeners]) callSafely(listener, snapshot);
  }

  /** Each change becomes a transaction, and what else is called waits for those before it. */
  #wrapMethods(collection: UndoableCollection): void {
    const reads = collection.type === 'DOCUMENT_BASED' ? documentReads : keyValueReads;
    for (const name of [...Object.keys(reads), ...LATER])
      if (name in collection) this.#wrap(collection, name, this.#afterCalls);
    for (const name of Object.keys(writesOf(collection))) {
      const call = (args: readonly never[]) => (tx: Transaction) =>
        (methodsIn(tx, collection) as unknown as Target)[name]?.(...args);
      this.#wrap(collection, name, () => (...args: never[]) => {
        const copies = args.map(copyArgument) as never[];
        return this.#inTurn(() => this.#record(undefined, call(copies), PATIENT));
      });
    }
    const modify: Method = (id: never, change: never, options: never) =>
      this.#modify(collection, id, change, options);
    this.#wrap(collection, 'modify', () => this.#afterCalls(modify));
  }

  /** Others do not wait for it: its function may await them. */
  #modify(
    collection: UndoableCollection,
    id: string,
    change: (value: unknown) => unknown,
    { retries = PATIENT.retries, ...options }: TransactionOptions = {},
  ): Promise<unknown> {
    return this.#record(
      undefined,
      async (tx) => {
        const methods = methodsIn(tx, collection);
        const value = await methods.get(id);
        const isDocument = collection.type === 'DOCUMENT_BASED';
        if (isDocument && !value) return undefined;
        const changed = await change(value);
        if (changed === undefined) return value;
        return isDocument ? methods.update(id, changed as AnyDocument) : methods.set(id, changed);
      },
      { retries, ...options },
    );
  }

  readonly #afterCalls =
    (original: Method) =>
    (...args: never[]) => {
      if (this.#running === 0) return original(...args);
      const copies = args.map(copyArgument) as never[];
      return this.#last.then(() => original(...copies));
    };

  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    this.#running++;
    const result = this.#last.then(call);
    const ended = () => {
      this.#running--;
    };
    this.#last = result.then(ended, ended);
    return result;
  }

  /** Another history may wrap it again meanwhile: then it only passes calls on. */
  #wrap(object: object, name: string, wrap: (original: Method) => Method): void {
    const target = object as Target;
    const own = Object.getOwnPropertyDescriptor(target, name);
    const original = (target[name] as Method).bind(target);
    const wrapped = wrap(original);
    const method = (...args: never[]) => (this.#isOver ? original(...args) : wrapped(...args));
    target[name] = method;
    this.#unwraps.push(() => {
      if (target[name] !== method) return;
      if (own) Object.defineProperty(target, name, own);
      else delete target[name];
    });
  }
}

/** In one transaction: what others changed since stays. */
async function revertIn(tx: Transaction, { changes }: Step) {
  const reverted = new Map<AnyCollection, RecordedChange[]>();
  const skipped: UndoSkip[] = [];
  for (const [collection, list] of changes) {
    const methods = methodsIn(tx, collection);
    const states = await readStates(
      collection,
      methods,
      list.map(({ id }) => id),
    );
    const done: RecordedChange[] = [];
    for (const [at, { id, before, after }] of list.entries()) {
      const kept: KeptPart[] = [];
      const current = states[at];
      const wanted = await stateBetween(after, before, current, kept);
      for (const part of kept) skipped.push({ collection: collection.name, id, ...part });
      if (wanted === current) continue;
      await writeState(collection, methods, id, current, wanted);
      done.push({ id, before: current, after: wanted });
    }
    if (done.length > 0) reverted.set(collection, done);
  }
  return { changes: reverted, skipped };
}

function gone({ label, changes }: Step, cause?: unknown): CollectionError {
  const [[collection] = []] = changes;
  const what = label === undefined ? 'The step' : `"${label}"`;
  return new CollectionError(
    'undo_gone',
    `${what} cannot be taken back: everything that it changed in "${collection?.name}" was deleted since. It is forgotten; the step before it is next.`,
    { place: collection?.name, cause },
  );
}

const checks = {
  collections: {
    allowed: 'a list of collections',
    test: (value: unknown) => Array.isArray(value) && value.length > 0,
    required: true,
  },
  limit: integer(1, undefined, 100),
};

/** @throws {OptionError} */
function checkCollection(collection: UndoableCollection, db: DatabaseClient): void {
  const { owner } = (collection?.[REPLICATION] ?? {}) as Partial<ReplicationAccess>;
  if (owner && (owner as unknown) === db) return;
  throw new OptionError(
    'option_invalid',
    'undo() takes a database and collections that were constructed with it.',
    { place: 'collections' },
  );
}

/**
 * Records what this tab changes in some collections, to be undone and redone. From then on each
 * change of these collections, by their methods or `db.transaction()`, is a transaction that reads
 * what it replaces. What other tabs, other handles and replication change is not recorded.
 *
 * @throws {OptionError}
 *
 * @example
 * ```ts
 * const history = undo(db, { collections: [shapes] });
 * await shapes.patch(id, { x: 5 });
 * await history.undo();
 * await history.redo();
 * ```
 */
export function undo(db: DatabaseClient, options: UndoOptions): UndoHistory {
  return new UndoHistory(db, options);
}
