import { StorageError } from '../../errors/storage-error.ts';
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
import { compareKeys, startsWith } from '../drivers/key-order.ts';
import type { DataKeys } from './data-keys.ts';
import { sealDamaged } from './encryption-errors.ts';
import { NameCodes } from './name-codes.ts';
import { openPageRecord, type SealedPageRecord } from './page-records.ts';
import { isGuardKey, type MarkedManifest, RollbackGuard } from './rollback-guard.ts';
import { type OpenedValue, type SealedValue, SealedValues } from './sealed-values.ts';

/** Bytes that are encoded in one turn: a large write must not block the thread. */
const AHEAD = 1024 * 1024;

/** Above any number of values that are listed without a name. */
const ALL = 1_000_000;

/** What has no names in its keys: bookkeeping in clear, and what pages write as they end. */
type ClearStore = 'leadership' | 'recovery';

/** A value that was read; damaged ones do not open. */
interface Entry {
  readonly key: StorageKey;
  readonly opened: OpenedValue | undefined;
}

/**
 * Storage whose values are sealed in another one. Names in keys are codes there.
 *
 * A write is sealed before it begins: a transaction of IndexedDB ends while something else is awaited. So its ciphertext is in memory, as the
 * segments of the write are anyway.
 */
export class EncryptedStorage implements Storage {
  readonly #storage: Storage;
  readonly #keys: DataKeys;
  readonly #values: SealedValues;
  readonly #codes: NameCodes;
  readonly #guard: RollbackGuard;
  readonly #damaged: StorageEvents['damaged'];
  /** Settles when all writes so far have begun; never rejects. */
  #begun: Promise<unknown> | undefined;
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
    const coded = await this.#codedAll(store, keys);
    const stored = await this.#storage.getMany(store, coded);
    return Promise.all(
      stored.map(async (value, at) => {
        const place = coded[at] as StorageKey;
        const entry = value === undefined ? undefined : await this.#open(store, place, value);
        if (store === 'collections') return this.#manifest(keys[at] as StorageKey, entry, value);
        return entry?.opened?.value;
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
    const begun = Promise.resolve(this.#begun).then(async () => {
      const sealed = await this.#prepare(operations);
      return { done: this.#storage.write(sealed, durability) };
    });
    const all = begun.then(
      () => undefined,
      () => undefined,
    );
    this.#begun = all;
    void all.then(() => {
      if (this.#begun === all) this.#begun = undefined;
    });
    return begun.then(({ done }) => done);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#begun;
    await this.#storage.close();
  }

  /** Reads see the writes before them. */
  async #ready(): Promise<void> {
    if (this.#closed) throw closed();
    if (this.#begun) await this.#begun;
  }

  async #prepare(operations: Iterable<StorageOperation>): Promise<StorageOperation[]> {
    const guard = this.#guard.begin();
    const sealed: Promise<StorageOperation>[] = [];
    let size = 0;
    try {
      for (const operation of operations) {
        if (operation.type !== 'put' || operation.store === 'leadership') {
          if (operation.type === 'delete') guard.delete(operation.store, operation.key);
          if (operation.type === 'deletePrefix') guard.delete(operation.store, operation.prefix);
          sealed.push(this.#coded(operation));
          continue;
        }
        const { store, key } = operation;
        const value = guard.put(store, key, operation.value);
        const bytes = await this.#values.encode(key[0] ?? '', value);
        sealed.push(
          this.#key(store, key).then(async (place) => ({
            ...{ type: 'put', store, key: place, size: bytes.length },
            value: await this.#values.seal(store, place, bytes),
          })),
        );
        size += bytes.length;
        if (size < AHEAD) continue;
        size = 0;
        // A turn of the event loop, too.
        await sealed.at(-1);
      }
    } catch (error) {
      await Promise.allSettled(sealed);
      throw error;
    }
    const all = await Promise.all(sealed);
    return [...all, ...(await guard.end())];
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
      const isHere = key && startsWith(key, from) && (!before || compareKeys(key, before) > 0);
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

  /** @throws {StorageError} `data_damaged`: a manifest that is not read would be replaced. */
  async #manifest(key: StorageKey, entry: Entry | undefined, stored: unknown): Promise<unknown> {
    const [name] = key;
    if (name === undefined || key.length > 1) return entry?.opened?.value;
    const found = entry?.opened?.value as MarkedManifest | undefined;
    const problem =
      stored && !found ? 'it does not open' : await this.#guard.verify(name, found).catch(String);
    if (problem) throw sealDamaged(`The manifest of collection "${name}" is damaged (${problem})`);
    return found?.manifest;
  }
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

function closed(): StorageError {
  return new StorageError('storage_lost', 'The database was closed.');
}
