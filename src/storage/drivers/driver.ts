import type { StorageError } from '../../errors/storage-error.ts';

/** The object stores. They are fixed: making or dropping a collection never upgrades a database. */
export const STORE_NAMES = [
  'collections',
  'segments',
  'bodies',
  'snapshots',
  'leadership',
  'recovery',
] as const;

/**
 * `collections` holds manifests under `[name]`, `segments` holds segments under `[name, number]`, `bodies`
 * the bodies of those that are not small, under the same keys, `snapshots` what backups remember, under
 * `[name, sequence]`, `handover` the leader's epoch under `['epoch']`, `pages` what pages left behind when they ended,
 * under `[client, ending]`.
 */
export type StoreName = (typeof STORE_NAMES)[number];

/** Keys order as IndexedDB orders arrays: item by item, numbers before strings, the shorter first. */
export type StorageKey = readonly (string | number)[];

/** Stores a value under a key. */
export interface StoragePut {
  readonly type: 'put';
  readonly store: StoreName;
  readonly key: StorageKey;
  readonly value: object;
  /** Rough size of the value in bytes, where it is large: a driver may pace itself by it. */
  readonly size?: number;
}

/** One step of an atomic batch. */
export type StorageOperation =
  | StoragePut
  | { readonly type: 'delete'; readonly store: StoreName; readonly key: StorageKey }
  | { readonly type: 'deletePrefix'; readonly store: StoreName; readonly prefix: StorageKey }
  | StorageCheck;

/**
 * Looks at what is stored, as of this batch: unless the value under the key has this `epoch`, 0 where there is no
 * value, nothing of the batch is applied and the write rejects with `database_taken`.
 */
export interface StorageCheck {
  readonly type: 'check';
  readonly store: StoreName;
  readonly key: StorageKey;
  readonly epoch: number;
}

/** Which keys to list: those that start with `prefix`, in order, after `after`, at most `limit`. */
export interface StorageRange {
  readonly prefix: StorageKey;
  readonly after?: StorageKey | undefined;
  readonly limit: number;
}

/**
 * How much of a power cut a save survives; the hint that IndexedDB transactions take. A crash of the
 * browser loses nothing that was saved, with either.
 */
export type Durability = 'relaxed' | 'strict';

/** What a driver tells without being asked. */
export interface StorageEvents {
  /** The browser had to throw data away before opening, or something else that was stored is gone. */
  readonly damaged: (error: StorageError) => void;
}

/**
 * An opened database. Values are whatever the structured clone algorithm takes. Every failure is a
 * {@link StorageError}; every promise settles.
 */
export interface Storage {
  /** The values under the keys, in the order of the keys, `undefined` where there is none. */
  getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]>;
  /** The values in a range, in the order of their keys. */
  list(store: StoreName, range: StorageRange): Promise<unknown[]>;
  /** The keys that start with a prefix, in order. */
  keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]>;
  /**
   * Applies all operations or none. Resolves when they are stored, not before.
   *
   * The operations are drawn one by one while the transaction runs, so that a large batch is never
   * built, or serialised, in one go. Those that concern `pages` come in an array, and alone.
   */
  write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void>;
  /** Releases the database. Later calls reject. */
  close(): Promise<void>;
}

/**
 * A kind of storage. Pass one as the door option `storage` to keep data where Cairn has no driver for:
 * it has to pass the driver contract suite in `test/storage`.
 */
export interface StorageDriver {
  /** Shown as `status.storage`. */
  readonly kind: string;
  /** Opens the database of this name, made if missing. */
  open(name: string, events: StorageEvents): Promise<Storage>;
}
