import { CLOSE_DEADLINE_MS, withDeadline } from '../../async/clock.ts';
import { Mutex } from '../../async/mutex.ts';
import { DATABASE_ID, databaseClosed, databaseIdOf } from '../drivers/database-id.ts';
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
import type { Manifest } from '../log/manifest.ts';
import type { DataKeys } from './data-keys.ts';
import { sealDamaged, webCrypto } from './encryption-errors.ts';
import { openPageRecord, type PageRecordPlace, type SealedPageRecord } from './page-records.ts';
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
    const values = (await this.#storage.list(store, range)) as object[];
    let before = behind;
    const entries = values.flatMap((value): Promise<Entry>[] => {
      // The copy of the key record.
      if ('claim' in value) return [];
      const key = 'key' in value ? (value as SealedValue).key : clearKey(store, value);
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
      const ofOther = store === 'recovery' && (await this.#ofOther(value as PageRecordPlace));
      return ofOther
        ? { key, opened: { name: '', value: ofOther } }
        : this.#refuse(store, key, cause);
    }
  }

  /**
   * What a frozen page wrote, sealed or in clear, after another had destroyed its database: the
   * engine forgets what has another id.
   */
  async #ofOther({ client, ending, database }: PageRecordPlace): Promise<object | undefined> {
    const [id] = await this.#storage.getMany('leadership', [DATABASE_ID]);
    if (database === undefined || database === databaseIdOf(id)) return undefined;
    // Whatever the engine takes for the id, nothing of it is applied.
    return { client, ending, database, opened: [], changes: [] };
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

/** Where a page has put a recovery record in clear, which tells no key. */
function clearKey(store: StoreName, value: object): StorageKey | undefined {
  const { client, ending } = value as PageRecordPlace;
  return store === 'recovery' && client ? [client, ending] : undefined;
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

/**
 * Where the guard keeps its values, beside the encoded documents of a collection: they go with it.
 */
const TWIN = 'manifest';
const NEWEST = 'newest';

/** A manifest as it is sealed, with a random token that its twin has, too. */
interface MarkedManifest {
  readonly manifest: object;
  readonly token: string;
}

interface Guarded {
  /** That of the manifest's twin. */
  readonly token: string | undefined;
  /** The number of the newest segment. */
  readonly newest: number | undefined;
  readonly hasNewest: boolean;
}

/** Whether a key belongs to the guard: nobody else sees it. */
function isGuardKey(key: StorageKey): boolean {
  return key.length === 2 && (key[1] === TWIN || key[1] === NEWEST);
}

/**
 * Notices when a single value of a collection is put back to an older one, or taken away. Segments
 * never change, and each names the one before it. A manifest changes: it has a random token that a
 * second value repeats. The number of the newest segment is a value, too.
 * docs/decisions/042-encryption.md has the reasons.
 */
class RollbackGuard {
  readonly #storage: Storage;
  readonly #values: SealedValues;
  readonly #codes: NameCodes;
  /** The newest segments as far as this opening knows, by collection. */
  readonly #newest = new Map<string | number, number>();

  constructor(storage: Storage, values: SealedValues, codes: NameCodes) {
    this.#storage = storage;
    this.#values = values;
    this.#codes = codes;
  }

  begin(): GuardedWrite {
    return new GuardedWrite(this.#values, this.#codes, this.#newest);
  }

  /**
   * Reads what the guard has of a collection, beside its manifest: each read after another is a
   * turn of the opening.
   */
  async read(name: string | number): Promise<Guarded> {
    const first = await this.#read(name);
    if (first.newest === undefined || first.hasNewest) return first;
    // A compaction that came between the two reads has deleted it.
    return { ...(await this.#read(name)), token: first.token };
  }

  async #read(name: string | number): Promise<Guarded> {
    const code = await this.#codes.codeOf(name);
    const keys = [TWIN, NEWEST].map((place): StorageKey => [code, place]);
    const stored = await this.#storage.getMany('bodies', keys);
    const [twin, newest] = await Promise.all(
      stored.map(async (one, at) =>
        one === undefined ? undefined : this.#values.open('bodies', keys[at] as StorageKey, one),
      ),
    );
    const { token } = (twin?.value ?? {}) as { token?: string };
    const { number } = (newest?.value ?? {}) as { number?: number };
    if (number !== undefined) this.#newest.set(name, Math.max(number, this.#newest.get(name) ?? 0));
    const found = number === undefined ? [] : await this.#storage.keys('segments', [code, number]);
    return { token, newest: number, hasNewest: found.length > 0 };
  }
}

/**
 * Compares a manifest with what the guard has.
 *
 * @param found The stored manifest, `undefined` where there is none.
 * @returns a clause: what is wrong.
 */
function rollbackOf(
  found: MarkedManifest | undefined,
  { token, newest, hasNewest }: Guarded,
): string | undefined {
  if (token !== found?.token) return 'an older one, or none, is in its place';
  if (!found || newest === undefined || newest < (found.manifest as Manifest).next)
    return undefined;
  return hasNewest ? undefined : `segment ${newest}, the newest, is missing`;
}

class GuardedWrite {
  readonly #values: SealedValues;
  readonly #codes: NameCodes;
  readonly #known: Map<string | number, number>;
  /** Tokens of manifests; `undefined` where one is deleted. */
  readonly #tokens = new Map<string | number, string | undefined>();
  readonly #puts = new Map<string | number, number>();
  readonly #gone = new Set<string | number>();

  constructor(values: SealedValues, codes: NameCodes, known: Map<string | number, number>) {
    this.#values = values;
    this.#codes = codes;
    this.#known = known;
  }

  /** @returns the value to store. */
  put(store: string, key: StorageKey, value: object): object {
    const [name, number] = key as [string | number, ...(string | number)[]];
    if (store === 'segments' && typeof number === 'number')
      this.#puts.set(name, Math.max(number, this.#puts.get(name) ?? 0));
    if (store !== 'collections' || key.length > 1) return value;
    const token = Math.random().toString(36).slice(2) + Date.now().toString(36);
    this.#tokens.set(name, token);
    return { manifest: value, token } satisfies MarkedManifest;
  }

  delete(store: string, key: StorageKey): void {
    const [name, number] = key;
    if (name === undefined) return;
    if (store === 'collections' && key.length === 1) this.#tokens.set(name, undefined);
    if (store !== 'segments') return;
    // An import that was given up, or a write that is undone.
    const newest = Math.max(this.#known.get(name) ?? 0, this.#puts.get(name) ?? 0);
    if (typeof number !== 'number' || (newest > 0 && number >= newest)) this.#gone.add(name);
  }

  /** What the guard writes behind all else. */
  *end(): Generator<PendingSeal> {
    for (const [name, token] of this.#tokens)
      yield this.#write(name, TWIN, token ? { token } : undefined);
    for (const name of this.#gone) {
      this.#known.delete(name);
      if (!this.#puts.has(name)) yield this.#write(name, NEWEST, undefined);
    }
    for (const [name, number] of this.#puts) {
      this.#known.set(name, number);
      yield this.#write(name, NEWEST, { number });
    }
  }

  #write(name: string | number, place: string, value: object | undefined): PendingSeal {
    const key = this.#codes.codeOf(name).then((code): StorageKey => [code, place]);
    if (value) return this.#values.put('bodies', name, key, value);
    return pendingSeal(0, async () => ({ type: 'delete', store: 'bodies', key: await key }));
  }
}

/** Characters of a code of 128 bits: two names never have the same. */
const CODE_LENGTH = 22;

const encoder = new TextEncoder();

/**
 * Stands for names in the keys of storage: HMAC-SHA-256 of the name, cut to 128 bits. Only the
 * first item of a key is a name; numbers behind it stay, so that storage keeps their order.
 */
class NameCodes {
  readonly #key: CryptoKey;
  readonly #known = new Map<string | number, Promise<string>>();

  constructor(key: CryptoKey) {
    this.#key = key;
  }

  async coded(key: StorageKey): Promise<StorageKey> {
    const [name, ...rest] = key;
    return name === undefined ? key : [await this.codeOf(name), ...rest];
  }

  codeOf(name: string | number): Promise<string> {
    const code = this.#known.get(name) ?? this.#make(name);
    this.#known.set(name, code);
    return code;
  }

  async #make(name: string | number): Promise<string> {
    // As JSON: lone surrogates would all become the same bytes.
    const content = encoder.encode(JSON.stringify(name));
    const signed = new Uint8Array(await webCrypto().sign('HMAC', this.#key, content));
    const text = btoa(String.fromCharCode(...signed))
      .replaceAll('+', '-')
      .replaceAll('/', '_');
    return text.slice(0, CODE_LENGTH);
  }
}
