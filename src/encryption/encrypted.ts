import { systemClock } from '../async/clock.ts';
import { loadFailed, OptionError, StorageError } from '../errors/errors.ts';
import {
  PageUnloadWriter,
  type RecordForm,
  type RecordSealing,
} from '../page/unload/recovery-record.ts';
import {
  JOURNAL_ROOM,
  journalKey,
  journalKeys,
  journalSize,
  SEALED_JOURNAL,
  storeLines,
} from '../page/unload/unload-journal.ts';
import { readKept } from '../platform/page-store.ts';
import type {
  ClientEncryption,
  EncryptedDriver,
  EngineEncryption,
} from '../protocol/client-encryption.ts';
import { changedHandles } from '../protocol/operations.ts';
import type { RecoveryKey, RecoveryRecord } from '../protocol/recovery-records.ts';
import type { AcknowledgedChange, OpenedHandles } from '../protocol/requests.ts';
import { deletableIndexedDb } from '../storage/drivers/deletable-indexeddb.ts';
import type { StorageDriver } from '../storage/drivers/driver.ts';
import { memoryDriver } from '../storage/drivers/memory-driver.ts';
import { type EncryptionModule, keyProof } from '../storage/encryption/encryption-module.ts';
import { readKeyRecord } from '../storage/encryption/key-record.ts';
import {
  frameBytes,
  frameLine,
  framePlace,
  openPageRecord,
  type PageFrame,
  packBytes,
  type SealedPageRecord,
} from '../storage/encryption/page-records.ts';
import {
  type Bytes,
  join,
  NONCE_LENGTH,
  placeBytes,
  SEALED,
  sealBytes,
} from '../storage/encryption/sealing.ts';
import type { KeyOrigin } from '../storage/encryption/wrapping-key.ts';
import { AppKey, type EncryptionKey } from './app-key.ts';
import { PageKeys } from './page-keys.ts';

/** Options of {@link encrypted}. */
export interface EncryptedStorageOptions {
  /**
   * What opens the database: a password, the PRF output of a passkey, 32 random bytes, or a
   * CryptoKey for AES-GCM or AES-KW. It is copied: you may overwrite your bytes afterwards.
   */
  key: EncryptionKey;
}

/** What can be encrypted. */
export type EncryptableStorage = 'indexeddb' | 'opfs' | 'memory' | StorageDriver;

/**
 * Encrypts everything that a database stores, with AES-256-GCM: documents, names, indexes, backups,
 * unload journals. Queries work as before: they run in memory.
 *
 * A lost key is lost data.
 *
 * @param storage As the option `storage`; a driver for `new Database()` only.
 * @throws {OptionError} `option_invalid`. Opening rejects with {StorageError} `key_wrong`,
 *   `not_encrypted`, `data_damaged` or `encryption_unavailable`.
 *
 * @example
 * ```ts
 * const db = connect({
 *   name: 'notes',
 *   storage: encrypted('indexeddb', { key: { password: 'correct horse battery staple' } }),
 * });
 * ```
 */
export function encrypted<Inner extends EncryptableStorage>(
  storage: Inner,
  options: EncryptedStorageOptions,
): EncryptedDriver<Inner> {
  const keys = new PageKeys(AppKey.of(options?.key, 'key'));
  return encryptedWith(checkedStorage(storage), clientEncryption(keys));
}

/** @throws {OptionError} */
export function checkedStorage<Inner extends EncryptableStorage>(storage: Inner): Inner {
  const isKnown = storage === 'indexeddb' || storage === 'opfs' || storage === 'memory';
  if (isKnown || typeof (storage as Partial<StorageDriver> | undefined)?.open === 'function')
    return storage;
  throw new OptionError(
    'option_invalid',
    "encrypted() takes 'indexeddb', 'opfs', 'memory' or a driver.",
    { place: 'storage' },
  );
}

/** @param next The keys that the database is to have. */
export function clientEncryption(keys: PageKeys, next?: PageKeys): ClientEncryption {
  return {
    forEngine: async (name, inWorker) => {
      const [key, derived, newKey, code] = await Promise.all([
        keys.material(),
        inWorker && keys.isSlow ? keys.derivedFor(name) : undefined,
        next?.deriveNew(),
        inWorker ? undefined : loadCode().catch(loadFailed),
      ]);
      const derive = inWorker ? undefined : (origin: KeyOrigin) => keys.derive(origin);
      return { code, key, derived, derive, next: newKey } satisfies EngineEncryption;
    },
    // The opening that needs them gets the failure.
    prepare: (name) => void keys.dataKeys(name).catch(() => undefined),
    proving: (name) => {
      const reading = keys.sharedKeys(name);
      reading.catch(() => undefined);
      return async (place, challenge) =>
        keyProof((await reading).proofs, name, place, challenge as Bytes);
    },
    check: async (name, record) => void (await keys.keysOf(name, readKeyRecord(record))),
    isOutdated: (name) => keys.isOutdated(name),
    pageWriting: (name) => new PageUnloadWriter(name, new PageSealing(name, keys)),
    readJournals: (name) => openJournals(name, keys),
  };
}

/** A driver over storage of this thread, for the suite of drivers and whatever else opens one. */
function encryptedWith<Inner extends EncryptableStorage>(
  storage: Inner,
  encryption: ClientEncryption,
): EncryptedDriver<Inner> {
  const driver = driverOf(storage);
  return {
    kind: driver.kind,
    storage,
    encryption,
    open: async (name, events) => {
      const { code, ...key } = await encryption.forEngine(name, false);
      const opened = await driver.open(name, events);
      try {
        const options = { ...key, name, hasPages: false, events, StorageError };
        return await (code as EncryptionModule).openEncrypted(opened, options);
      } catch (error) {
        await opened.close();
        throw error;
      }
    },
    ...(driver.delete && { delete: (name) => driver.delete?.(name) as Promise<void> }),
  };
}

function driverOf(storage: EncryptableStorage): StorageDriver {
  if (typeof storage === 'object') return storage;
  if (storage === 'memory') return memoryDriver();
  if (storage === 'indexeddb') return deletableIndexedDb();
  const open = async () => {
    throw new StorageError('storage_unavailable', "Storage 'opfs' needs connect().");
  };
  return { kind: storage, open };
}

function loadCode(): Promise<EncryptionModule> {
  return import('../storage/encryption/open-encrypted.ts');
}

/** How long after an opening the cipher loads, unless a change needs it sooner. */
const PREPARE_MS = 100;

/** Changes that were acknowledged together, sealed. */
interface Frame {
  readonly changes: readonly AcknowledgedChange[];
  readonly text: string;
}

interface PageCiphers {
  readonly pages: CryptoKey;
  /** Encrypts at once: WebCrypto is asynchronous, and a page that ends waits for nothing. */
  readonly encrypt: (nonce: Bytes, bytes: Bytes, additionalData: Bytes) => Uint8Array;
}

/**
 * Seals what a page writes as it is hidden or ends.
 *
 * A change is sealed before it is acknowledged, so that the ending page only stores text. To seal
 * 500 documents in `pagehide` took 30 ms where plain ones took 4 ms, and 12 of 40 pages that
 * navigated to another site were gone by then. docs/decisions/042-encryption.md has the figures.
 */
export class PageSealing implements RecordSealing {
  readonly #name: string;
  readonly #keys: PageKeys;
  readonly #frames = new WeakMap<AcknowledgedChange, Frame>();
  /** Frames of the settings of collections, which many changes share. */
  readonly #settings = new WeakMap<object, string>();
  #preparing: Promise<void> | undefined;
  #ciphers: PageCiphers | undefined;

  constructor(name: string, keys: PageKeys) {
    this.#name = name;
    this.#keys = keys;
  }

  get pending(): Promise<void> | undefined {
    if (this.#ciphers) return undefined;
    // Until it succeeds, every change is saved before it is acknowledged.
    this.#preparing ??= this.#prepare().catch(() => {
      this.#preparing = undefined;
    });
    return this.#preparing;
  }

  prepare(): void {
    // The tables of the synchronous cipher block a page for 10 ms: its first answers come before.
    systemClock.after(PREPARE_MS, () => void this.pending);
  }

  async seal(record: RecoveryRecord): Promise<void> {
    const changes = record.changes.filter(isWithoutBlob);
    if (changes.length === 0) return;
    const { client, database } = record;
    const settings = openedOf(record, changes).filter((one) => !this.#settings.has(one[1]));
    const [text, ...settingsTexts] = await Promise.all([
      this.#frame(client, { database, opened: [], changes }),
      ...settings.map((one) => this.#frame(client, { database, opened: [one], changes: [] })),
    ]);
    for (const [at, [, one]] of settings.entries())
      this.#settings.set(one, settingsTexts[at] as string);
    const frame = { changes, text };
    for (const change of changes) this.#frames.set(change, frame);
  }

  *forms(record: RecoveryRecord, isGapless: boolean): Iterable<RecordForm> {
    const changes = sealable(record.changes, isGapless);
    const isSealed = (change: AcknowledgedChange) => this.#frames.has(change);
    const firstLate = changes.findIndex((change) => !isSealed(change));
    const sealed =
      isGapless && firstLate >= 0 ? changes.slice(0, firstLate) : changes.filter(isSealed);
    const lines = this.#sealedLines(record, sealed);
    if (lines.length > 0) yield formOf(record, lines, sealed.length);
    // What is sealed is written by now. The others are calls in flight, changes that wait for their
    // seal or their save, and changes of synchronous calls.
    const isDone = new Set(sealed);
    const late = changes.filter((change) => !isDone.has(change));
    const fitting = withinRoom(late);
    const count = sealed.length + fitting.length;
    const journaled = fitting.length > 0 ? [...lines, this.#sealAtOnce(record, fitting)] : lines;
    if (fitting.length > 0) yield formOf(record, journaled, count);
    const rest = late.slice(fitting.length);
    if (rest.length === 0) return;
    const all = [...journaled, this.#sealAtOnce(record, rest)];
    yield { ...formOf(record, all, changes.length), journal: () => 0 };
  }

  async #prepare(): Promise<void> {
    const [{ pages, pageBytes }, { gcm }] = await Promise.all([
      this.#keys.dataKeys(this.#name),
      import('@noble/ciphers/aes.js'),
    ]);
    this.#ciphers = {
      pages,
      encrypt: (nonce, bytes, additionalData) =>
        gcm(pageBytes, nonce, additionalData).encrypt(bytes),
    };
  }

  async #frame(client: string, frame: PageFrame): Promise<string> {
    const { pages } = this.#ciphers as PageCiphers;
    return packBytes(await sealBytes(pages, SEALED.page, frameBytes(frame), framePlace(client)));
  }

  /** The frames of changes that are not released, behind those of their collections. */
  #sealedLines(record: RecoveryRecord, changes: readonly AcknowledgedChange[]): string[] {
    const wanted = new Set(changes);
    const frames = new Set(changes.flatMap((change) => this.#frames.get(change) ?? []));
    const opened = openedOf(record, changes);
    const settings = opened.flatMap((one) => this.#settings.get(one[1]) ?? []);
    // Another handle may have the number of the one that made the changes by now.
    const late = opened.filter((one) => !this.#settings.has(one[1]));
    if (late.length > 0) settings.push(this.#sealAtOnce(record, [], late));
    const lines = Array.from(frames, (frame) =>
      frameLine(
        frame.text,
        frame.changes.flatMap((change, at) => (wanted.has(change) ? [] : [at])),
      ),
    );
    return [...settings.map((text) => frameLine(text, [])), ...lines];
  }

  #sealAtOnce(
    record: RecoveryRecord,
    changes: readonly AcknowledgedChange[],
    opened = openedOf(record, changes),
  ): string {
    const { encrypt } = this.#ciphers as PageCiphers;
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_LENGTH));
    const place = placeBytes(SEALED.page, framePlace(record.client));
    const bytes = frameBytes({ database: record.database, opened, changes });
    const sealed = encrypt(nonce, bytes, place);
    return frameLine(packBytes(join(SEALED.page, nonce, sealed)), []);
  }
}

/** @param count How many changes of the record the lines have. */
function formOf(record: RecoveryRecord, lines: readonly string[], count: number): RecordForm {
  const { client, ending, database } = record;
  const key: RecoveryKey = [client, ending];
  const isWhole = count === record.changes.length;
  return {
    value: { sealed: lines.join('\n'), key, client, ending, database } satisfies SealedPageRecord,
    isWhole,
    isText: true,
    journal: (name) =>
      storeLines(journalKey(name, key), lines, SEALED_JOURNAL) === lines.length ? count : 0,
  };
}

/** The collections that the changes are about. */
function openedOf(
  { opened }: RecoveryRecord,
  changes: readonly AcknowledgedChange[],
): OpenedHandles {
  const handles = new Set(changes.flatMap(({ request }) => changedHandles(request)));
  return opened.filter(([handle]) => handles.has(handle));
}

/** The changes without those that have Blobs, or those before the first that has one. */
function sealable(
  changes: readonly AcknowledgedChange[],
  isGapless: boolean,
): readonly AcknowledgedChange[] {
  if (!isGapless) return changes.filter(isWithoutBlob);
  const end = changes.findIndex((change) => !isWithoutBlob(change));
  return end < 0 ? changes : changes.slice(0, end);
}

/** The first changes, as many as a journal has room for. */
function withinRoom(changes: readonly AcknowledgedChange[]): readonly AcknowledgedChange[] {
  let room = JOURNAL_ROOM;
  const end = changes.findIndex(({ request }) => {
    room -= journalSize(request);
    return room < 0;
  });
  return end < 0 ? changes : changes.slice(0, end);
}

function isWithoutBlob({ request }: AcknowledgedChange): boolean {
  return journalSize(request) < Number.POSITIVE_INFINITY;
}

/**
 * Opens the unload journals of a database. Those that do not open stay: they may be of another key.
 * Journals in clear do not count: without the key anybody could have written them.
 *
 * @throws {StorageError} `key_wrong`, or where the keys of the database cannot be read.
 */
async function openJournals(name: string, keys: PageKeys): Promise<RecoveryRecord[]> {
  const sealed = journalKeys(name).flatMap((key) => {
    const text = readKept(key);
    return text?.startsWith(SEALED_JOURNAL) ? [{ key, text }] : [];
  });
  if (sealed.length === 0) return [];
  const { pages } = await keys.dataKeys(name);
  const opened = await Promise.all(
    sealed.map(async ({ key, text }) => {
      const [, client, ending] = JSON.parse(key.slice(key.indexOf('['))) as JournalName;
      const lines = text.slice(SEALED_JOURNAL.length);
      try {
        return [(await openPageRecord(pages, [client, ending], lines)) as RecoveryRecord];
      } catch {
        console.warn(
          `cairndb does not open an unload journal of "${name}" in localStorage: it is damaged, or of another key.`,
        );
        return [];
      }
    }),
  );
  return opened.flat();
}

type JournalName = [database: string, client: string, ending: number];
