import type { StorageError } from '../../errors/errors.ts';

/**
 * The object stores. They are fixed: creating or dropping a collection never upgrades the database.
 */
export const STORE_NAMES = [
  'collections',
  'segments',
  'bodies',
  'snapshots',
  'leadership',
  'recovery',
] as const;

/**
 * | Store | Key | Value |
 * |---|---|---|
 * | `collections` | `[name]` | manifest |
 * | `segments` | `[name, number]` | segment, with its encoded documents where it is small |
 * | `bodies` | `[name, number]` | encoded documents of a larger segment |
 * | `bodies` | `[name, 'checkpoint', …]` | directory, pages and warm set of a checkpoint |
 * | `bodies` | `[name, 'manifest']`, `[name, 'newest']` | what notices a roll-back, of encrypted databases |
 * | `snapshots` | `[name, sequence]` | backup |
 * | `leadership` | `['epoch']` | epoch and claim of the newest leader |
 * | `leadership` | `['database']` | id of the database, put by the driver that creates it (`putDatabaseId`) |
 * | `leadership` | `['destroyed']` | ids of databases that were emptied here |
 * | `leadership` | `['encryption']` | salt and wrapped key of an encrypted database |
 * | `leadership` | `['moved']` | where the data is, if it is not here |
 * | `recovery` | `[client, ending]` | recovery record of a page that ended |
 * | `recovery` | `['encryption', 0]` | copy of the key record, for pages |
 */
export type StoreName = (typeof STORE_NAMES)[number];

/**
 * Keys sort as arrays do in IndexedDB: item by item, numbers before strings, the shorter first. A
 * number is an integer and the last item of its key.
 */
export type StorageKey = readonly (string | number)[];

/** Stores a value under a key. */
export interface StoragePut {
  readonly type: 'put';
  readonly store: StoreName;
  readonly key: StorageKey;
  readonly value: object;
  /** Rough size of the value in bytes, where it is large: a driver may pause by it. */
  readonly size?: number;
}

/** One step of an atomic batch. */
export type StorageOperation =
  | StoragePut
  | { readonly type: 'delete'; readonly store: StoreName; readonly key: StorageKey }
  | { readonly type: 'deletePrefix'; readonly store: StoreName; readonly prefix: StorageKey }
  | StorageCheck
  | StorageClaim;

/**
 * Compares the stored epoch, as of this batch. Unless the value under `key` has this `epoch` (0
 * where there is no value), the write applies nothing and rejects with `database_taken`.
 */
export interface StorageCheck {
  readonly type: 'check';
  readonly store: StoreName;
  readonly key: StorageKey;
  readonly epoch: number;
}

/**
 * Claims an epoch, as of this batch. Idempotent: every write may carry it until one has succeeded.
 *
 * | Stored under `key` | Effect |
 * |---|---|
 * | this `epoch` and this `claim` | none |
 * | `epoch - 1`, or no value and `epoch` is 1 | puts `{ epoch, claim }` |
 * | anything else | the write applies nothing and rejects with `database_taken` |
 */
export interface StorageClaim {
  readonly type: 'claim';
  readonly store: StoreName;
  readonly key: StorageKey;
  readonly epoch: number;
  /** A token that no other leader has. */
  readonly claim: string;
}

/** The keys that start with `prefix`, in order, after `after`, at most `limit`. */
export interface StorageRange {
  readonly prefix: StorageKey;
  readonly after?: StorageKey | undefined;
  readonly limit: number;
}

/**
 * Whether a save survives a power cut (`strict`), or a crash of the browser alone (`relaxed`): the
 * hint of IndexedDB transactions.
 */
export type Durability = 'relaxed' | 'strict';

/** Events of a driver. */
export interface StorageEvents {
  /** The browser discarded stored data before opening. */
  readonly damaged: (error: StorageError) => void;
  /**
   * The database was deleted while it is open, as by the user: every later call rejects with
   * `database_destroyed`.
   */
  readonly deleted?: (() => void) | undefined;
}

/** As {@link Storage.getItem}. */
export type GetItem = (
  store: StoreName,
  key: StorageKey,
  field: 'bodies',
  index: number,
) => Promise<unknown>;

/** As {@link Storage.writePending}. */
type WritePending = (
  operations: Iterable<Promise<StorageOperation>>,
  durability: Durability,
) => Promise<void>;

/**
 * An opened database. Values are anything that the structured clone algorithm takes. Every failure
 * is a {@link StorageError}; every promise settles.
 */
export interface Storage {
  /** The values of the keys, in the order of the keys, `undefined` for a missing one. */
  getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]>;
  /** The values in a range, in the order of their keys; `undefined` for one that cannot be read. */
  list(store: StoreName, range: StorageRange): Promise<unknown[]>;
  /** The keys that start with a prefix, in order. */
  keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]>;
  /**
   * One item of an array in a value: `value[field][index]`, `undefined` where there is none. For
   * storage that can read it without the rest: the engine then reads single encoded documents, else
   * whole segments.
   */
  readonly getItem?: GetItem | undefined;
  /**
   * Rough bytes above which values cost this storage much more. The engine cuts what it stores
   * below that.
   */
  readonly valueLimit?: number | undefined;
  /**
   * Applies all operations or none, in order. Resolves when they are stored.
   *
   * A driver may draw the operations one by one while its transaction runs: a large batch is never
   * built, or serialised, in one go. Operations on `recovery` come in an array, and with no others;
   * in IndexedDB the copy of a key record comes before its record, and `destroy()` empties all.
   */
  write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void>;
  /**
   * As {@link write}, with operations that are computed while the transaction runs, without this
   * storage. For storage whose transaction can stay open meanwhile; for others the caller awaits
   * all operations first.
   */
  readonly writePending?: WritePending | undefined;
  /** Releases the database. Later calls reject. */
  close(): Promise<void>;
}

/**
 * A kind of storage. Pass one as the option `storage` of a client to store data elsewhere than in
 * IndexedDB. It must pass `storageDriverSuite` of `cairndb/testing`.
 */
export interface StorageDriver {
  /** Shown as `status.storage`. */
  readonly kind: string;
  /** Opens the database of this name; creates it if it is missing. */
  open(name: string, events: StorageEvents): Promise<Storage>;
  /**
   * Whether there is a database of this name; makes none. Left out, `changePassword()` of a missing
   * database leaves an empty one.
   */
  has?(name: string): Promise<boolean>;
  /**
   * Deletes the database of this name with all that it holds; does nothing if there is none. A
   * {@link Storage} of it that is still open rejects every later call. Left out, `destroy()`
   * empties the database instead.
   *
   * @throws {StorageError} `database_busy` where something else has it open and does not close it
   *   within seconds.
   */
  delete?(name: string): Promise<void>;
}
