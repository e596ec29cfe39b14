import type { Storage, StorageKey } from '../drivers/driver.ts';
import type { Manifest } from '../log/manifest.ts';
import { webCrypto } from './encryption-errors.ts';
import { type PendingSeal, pendingSeal } from './sealed-operations.ts';
import type { SealedValues } from './sealed-values.ts';

/**
 * Where the guard keeps its values, beside the encoded documents of a collection: they go with it.
 */
const TWIN = 'manifest';
const NEWEST = 'newest';

/** A manifest as it is sealed, with a random token that its twin has, too. */
export interface MarkedManifest {
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
export function isGuardKey(key: StorageKey): boolean {
  return key.length === 2 && (key[1] === TWIN || key[1] === NEWEST);
}

/**
 * Notices when a single value of a collection is put back to an older one, or taken away. Segments
 * never change, and each names the one before it. A manifest changes: it has a random token that a
 * second value repeats. The number of the newest segment is a value, too.
 * docs/decisions/042-encryption.md has the reasons.
 */
export class RollbackGuard {
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
export function rollbackOf(
  found: MarkedManifest | undefined,
  { token, newest, hasNewest }: Guarded,
): string | undefined {
  if (token !== found?.token) return 'an older one, or none, is in its place';
  if (!found || newest === undefined || newest < (found.manifest as Manifest).next)
    return undefined;
  return hasNewest ? undefined : `segment ${newest}, the newest, is missing`;
}

/** The guard's part of a write. */
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
export class NameCodes {
  readonly #key: CryptoKey;
  readonly #known = new Map<string | number, Promise<string>>();

  constructor(key: CryptoKey) {
    this.#key = key;
  }

  /** The key with a code instead of its name. */
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
