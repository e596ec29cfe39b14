import { CLOSE_DEADLINE_MS, withDeadline } from '../../async/clock.ts';
import { Mutex } from '../../async/mutex.ts';
import { databaseClosed } from '../drivers/database-id.ts';
import type {
  Durability,
  Storage,
  StorageEvents,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from '../drivers/driver.ts';
import { ENCRYPTION_KEY } from '../drivers/encryption-key.ts';
import { compareKeys, isKeyBelow } from '../drivers/key-order.ts';
import type { DataKeys } from './data-keys.ts';
import { sealDamaged } from './encryption-errors.ts';
import { openPageRecord, type SealedPageRecord } from './page-records.ts';
import {
  isGuardKey,
  type MarkedManifest,
  NameCodes,
  RollbackGuard,
  rollbackOf,
} from './rollback-guard.ts';
import { type PendingSeal, pendingSeal, SealedOperations } from './sealed-operations.ts';
import { type OpenedValue, type SealedValue, SealedValues } from './sealed-values.ts';

/**
 * Chromium compresses values above 64 KB in IndexedDB, and puts what is larger nevertheless, as
 * ciphertext is, into a file of its own: to write 9 MB in values of 73 KB takes 120 ms, of 60 KB 55
 * ms (docs/decisions/042-encryption.md).
 */
const VALUE_LIMIT = 60 * 1024;

/** Above any number of values that are listed without a name. */
const ALL = 1_000_000;

/** What has no names in its keys: bookkeeping in clear, and what pages write as they end. */
type ClearStore = 'leadership' | 'recovery';

/** A value that was read; damaged ones do not open. */
interface Entry {
  readonly key: StorageKey;
  readonly opened: OpenedValue | undefined;
}

/** Returns what is wrong with a manifest that was found. */
type RollbackCheck = (found: MarkedManifest | undefined) => string | undefined;

/**
 * Storage whose values are sealed in another one. Names in keys are codes there.
 *
 * A large write is sealed while its transaction runs, where storage can keep that open; else before
 * it begins, and its ciphertext is in memory.
 */
export class EncryptedStorage implements Storage {
  readonly valueLimit = VALUE_LIMIT;
  readonly #storage: Storage;
  readonly #keys: DataKeys;
  readonly #values: SealedValues;
  readonly #codes: NameCodes;
  readonly #guard: RollbackGuard;
  readonly #damaged: StorageEvents['damaged'];
  /** Held while a write begins. */
  readonly #begins = new Mutex();
  #closed = false;

  constructor(storage: Storage, keys: DataKeys, { damaged }: StorageEvents) {
    this.#storage = storage;
    this.#keys = keys;
    this.#values = new SealedValues(keys.values);
    this.#codes = new NameCodes(keys.names);
    this.#guard = new RollbackGuard(storage, this.#values, this.#codes);
    this.#damaged = damaged;
  }

  async getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    await this.#ready();
    if (store === 'leadership') {
      const values = await this.#storage.getMany(store, keys);
      return values.map((value, at) => (isKeyRecord(keys[at]) ? undefined : value));
    }
    // Beside the manifests.
    const rollbacks = store === 'collections' ? keys.map((key) => this.#rollback(key)) : [];
    const coded = await this.#codedAll(store, keys);
    const stored = await this.#storage.getMany(store, coded);
    return Promise.all(
      stored.map(async (value, at) => {
        const place = coded[at] as StorageKey;
        const entry = value === undefined ? undefined : await this.#open(store, place, value);
        if (store !== 'collections') return entry?.opened?.value;
        const check = await rollbacks[at];
        return checkedManifest(keys[at] as StorageKey, entry, value, check);
      }),
    );
  }

  async list(store: StoreName, range: StorageRange): Promise<unknown[]> {
    await this.#ready();
    if (store === 'leadership') return this.#storage.list(store, range);
    const entries = await this.#entries(store, range);
    return entries.flatMap(({ key, opened }) => {
      if (opened) return unmarked(store, opened.value);
      // Not missing: the reader of a log must not go on behind it.
      return store === 'segments' ? { number: key[1] } : [];
    });
  }

  async keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    await this.#ready();
    const { length } = prefix;
    if (isClear(store) || length === 0) {
      if (store === 'leadership' || store === 'recovery') return this.#storage.keys(store, prefix);
      const all = await this.#entries(store, { prefix, limit: ALL });
      return all.map(({ key, opened }) => (opened ? [opened.name, ...key.slice(1)] : key));
    }
    const [name] = prefix as [string | number];
    const found = await this.#storage.keys(store, await this.#codes.coded(prefix));
    return found.filter((key) => !isGuardKey(key)).map(([, ...rest]) => [name, ...rest]);
  }

  write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    // One after the other: a write must not overtake an earlier one.
    return this.#begins.run(() => this.#begin(operations, durability)).then(({ done }) => done);
  }

  async close(): Promise<void> {
    this.#closed = true;
    // A write that is drawn while storage does not answer never begins.
    const begun = this.#begins.held ?? Promise.resolve();
    await withDeadline(begun, CLOSE_DEADLINE_MS, () => new Error()).catch(() => undefined);
    await this.#storage.close();
  }

  /** Reads see the writes before them. */
  async #ready(): Promise<void> {
    if (this.#closed) throw databaseClosed();
    await this.#begins.held;
  }

  /** Resolves when storage has all operations. */
  async #begin(
    operations: Iterable<StorageOperation>,
    durability: Durability,
  ): Promise<{ readonly done: Promise<void> }> {
    const sealed = new SealedOperations(this.#seal(operations));
    if (!sealed.drawAhead() && this.#storage.writePending) {
      const done = this.#storage.writePending(sealed, durability);
      await Promise.race([sealed.drawn, Promise.allSettled([done])]);
      return { done };
    }
    // A small write, which keeps no transaction open, or storage that cannot.
    const all: StorageOperation[] = [];
    for (const operation of sealed) all.push(await operation);
    return { done: this.#storage.write(all, durability) };
  }

  *#seal(operations: Iterable<StorageOperation>): Generator<PendingSeal> {
    const guard = this.#guard.begin();
    for (const operation of operations) {
      if (operation.type === 'put' && operation.store !== 'leadership') {
        const { store, key } = operation;
        const value = guard.put(store, key, operation.value);
        yield this.#values.put(store, key[0] ?? '', this.#key(store, key), value);
        continue;
      }
      if (operation.type === 'delete') guard.delete(operation.store, operation.key);
      if (operation.type === 'deletePrefix') guard.delete(operation.store, operation.prefix);
      yield pendingSeal(0, () => this.#coded(operation));
    }
    yield* guard.end();
  }

  async #coded(operation: StorageOperation): Promise<StorageOperation> {
    if (operation.type === 'deletePrefix')
      return { ...operation, prefix: await this.#key(operation.store, operation.prefix) };
    return { ...operation, key: await this.#key(operation.store, operation.key) };
  }

  #key(store: StoreName, key: StorageKey): Promise<StorageKey> {
    return isClear(store) ? Promise.resolve(key) : this.#codes.coded(key);
  }

  #codedAll(store: StoreName, keys: readonly StorageKey[]): Promise<StorageKey[]> {
    return Promise.all(keys.map((key) => this.#key(store, key)));
  }

  async #entries(store: StoreName, { prefix, after, limit }: StorageRange): Promise<Entry[]> {
    const isWhole = prefix.length === 0;
    const [from, behind] = await Promise.all([
      this.#key(store, prefix),
      after && !isWhole ? this.#key(store, after) : undefined,
    ]);
    const range = { prefix: from, after: behind, limit: isWhole ? ALL : limit };
    const values = (await this.#storage.list(store, range)) as Partial<SealedValue>[];
    let before = behind;
    const entries = values.flatMap((value): Promise<Entry>[] => {
      const { key } = value;
      // The copy of the key record.
      if (!key && 'claim' in value) return [];
      // Two values that were swapped are out of order.
      const isHere = key && isKeyBelow(key, from) && (!before || compareKeys(key, before) > 0);
      if (!isHere) return [Promise.resolve(this.#refuse(store, key ?? from))];
      before = key;
      return isGuardKey(key) ? [] : [this.#open(store, key, value)];
    });
    const opened = await Promise.all(entries);
    if (!isWhole) return opened;
    // The order of names is another than that of their codes.
    const nameOf = ({ key, opened }: Entry): StorageKey =>
      isClear(store) || !opened ? key : [opened.name, ...key.slice(1)];
    return opened
      .sort((a, b) => compareKeys(nameOf(a), nameOf(b)))
      .filter((entry) => !after || compareKeys(nameOf(entry), after) > 0)
      .slice(0, limit);
  }

  async #open(store: StoreName, key: StorageKey, value: unknown): Promise<Entry> {
    try {
      if (store !== 'recovery' || !isOfPage(value))
        return { key, opened: await this.#values.open(store, key, value) };
      const place = key as SealedPageRecord['key'];
      const record = await openPageRecord(this.#keys.pages, place, value.sealed);
      return { key, opened: { name: '', value: record } };
    } catch (cause) {
      return this.#refuse(store, key, cause);
    }
  }

  #refuse(store: StoreName, key: StorageKey, cause?: unknown): Entry {
    this.#damaged(sealDamaged(`A value of "${store}" does not open`, cause));
    return { key, opened: undefined };
  }

  /** Never rejects: a failure to read is one more reason not to trust the manifest. */
  #rollback([name, ...rest]: StorageKey): Promise<RollbackCheck> | undefined {
    if (name === undefined || rest.length > 0) return undefined;
    return this.#guard.read(name).then(
      (guarded) => (found) => rollbackOf(found, guarded),
      (error) => () => String(error),
    );
  }
}

/** @throws {StorageError} `data_damaged`: a manifest that is not read would be replaced. */
function checkedManifest(
  [name]: StorageKey,
  entry: Entry | undefined,
  stored: unknown,
  check: RollbackCheck | undefined,
): unknown {
  if (!check) return entry?.opened?.value;
  const found = entry?.opened?.value as MarkedManifest | undefined;
  const problem = stored && !found ? 'it does not open' : check(found);
  if (problem) throw sealDamaged(`The manifest of collection "${name}" is damaged (${problem})`);
  return found?.manifest;
}

/** Whether a page wrote a value of the store `recovery`, and not the engine. */
function isOfPage(value: unknown): value is SealedPageRecord {
  return typeof (value as Partial<SealedPageRecord>).sealed === 'string';
}

function unmarked(store: StoreName, value: object): object {
  return store === 'collections' && 'token' in value ? (value as MarkedManifest).manifest : value;
}

function isClear(store: StoreName): store is ClearStore {
  return store === 'leadership' || store === 'recovery';
}

function isKeyRecord(key: StorageKey | undefined): boolean {
  return key?.length === 1 && key[0] === ENCRYPTION_KEY[0];
}
