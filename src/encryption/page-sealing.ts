import type { AcknowledgedChange } from '../engine/protocol/requests.ts';
import type { RecoveryKey, RecoveryRecord } from '../engine/recovery/recovery-records.ts';
import type { StorageKey } from '../storage/drivers/driver.ts';
import {
  openPageRecord,
  pageRecordBytes,
  pageRecordPlace,
} from '../storage/encryption/page-records.ts';
import type { SealedValue } from '../storage/encryption/sealed-values.ts';
import {
  type Bytes,
  join,
  NONCE_LENGTH,
  placeBytes,
  SEALED,
} from '../storage/encryption/sealing.ts';
import type { UnloadJournals } from '../transport/platform/unload-writer.ts';
import { JOURNAL_ROOM, journalSize } from '../transport/unload/journal-size.ts';
import type { RecordSealing } from '../transport/unload/recovery-record.ts';
import {
  journalKey,
  journalKeys,
  SEALED_JOURNAL,
  storeJournal,
} from '../transport/unload/unload-journal.ts';
import { packBytes, unpackBytes } from './packed-text.ts';
import type { PageKeys } from './page-keys.ts';

/** Encrypts at once: WebCrypto is asynchronous, and a page that ends waits for nothing. */
type SyncCipher = (nonce: Bytes, bytes: Bytes, additionalData: Bytes) => Uint8Array;

/** Seals what a page writes as it ends: unload journals and recovery records. */
export class PageSealing implements RecordSealing {
  readonly #name: string;
  readonly #keys: PageKeys;
  #preparing: Promise<void> | undefined;
  #cipher: SyncCipher | undefined;

  constructor(name: string, keys: PageKeys) {
    this.#name = name;
    this.#keys = keys;
  }

  get pending(): Promise<void> | undefined {
    if (this.#cipher) return undefined;
    this.prepare();
    return this.#preparing;
  }

  prepare(): void {
    // Until it succeeds, every change is saved before it is acknowledged.
    this.#preparing ??= this.#prepare().catch(() => {
      this.#preparing = undefined;
    });
  }

  seal(record: RecoveryRecord): { value: SealedValue; isWhole: boolean } {
    const changes = record.changes.filter(isWithoutBlob);
    const key: StorageKey = [record.client, record.ending];
    const sealed = this.#seal({ ...record, changes }, key);
    return { value: { sealed, key }, isWhole: changes.length === record.changes.length };
  }

  readonly journals: Pick<UnloadJournals, 'write'> = {
    write: (database, record, isGapless = false) => {
      const key: RecoveryKey = [record.client, record.ending];
      const changes = journaled(record.changes, isGapless);
      // Finds by bisection how many changes fit, the oldest first.
      let fitting = 0;
      let tooMany = changes.length + 1;
      for (let tried = changes.length; tried > fitting; tried = (fitting + tooMany) >> 1) {
        const sealed = this.#seal({ ...record, changes: changes.slice(0, tried) }, key);
        const text = SEALED_JOURNAL + packBytes(sealed);
        if (storeJournal(journalKey(database, key), text)) fitting = tried;
        else tooMany = tried;
      }
      return fitting === record.changes.length;
    },
  };

  async #prepare(): Promise<void> {
    const [{ pageBytes }, { gcm }] = await Promise.all([
      this.#keys.dataKeys(this.#name),
      import('@noble/ciphers/aes.js'),
    ]);
    this.#cipher = (nonce, bytes, additionalData) =>
      gcm(pageBytes, nonce, additionalData).encrypt(bytes);
  }

  #seal(record: RecoveryRecord, key: StorageKey): Bytes {
    const cipher = this.#cipher as SyncCipher;
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_LENGTH));
    const place = placeBytes(SEALED.page, pageRecordPlace(key));
    return join(SEALED.page, nonce, cipher(nonce, pageRecordBytes(record), place));
  }
}

/**
 * Opens the unload journals of a database. Those that do not open stay: they may be of another key. Journals in clear do not count: without the key
 * anybody could have written them.
 */
export async function openJournals(name: string, keys: PageKeys): Promise<RecoveryRecord[]> {
  const sealed = journalKeys(name).flatMap((key) => {
    const text = localStorage.getItem(key);
    return text?.startsWith(SEALED_JOURNAL) ? [{ key, text }] : [];
  });
  if (sealed.length === 0) return [];
  const { pages } = await keys.dataKeys(name);
  const opened = await Promise.all(
    sealed.map(async ({ key, text }) => {
      const [, ...place] = JSON.parse(key.slice(key.indexOf('['))) as [string, string, number];
      try {
        const bytes = unpackBytes(text.slice(SEALED_JOURNAL.length));
        return [(await openPageRecord(pages, place, bytes)) as RecoveryRecord];
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

/** The changes that a journal has room for. */
function journaled(
  changes: readonly AcknowledgedChange[],
  isGapless: boolean,
): AcknowledgedChange[] {
  const some: AcknowledgedChange[] = [];
  let room = JOURNAL_ROOM;
  for (const change of changes) {
    const size = journalSize(change.request);
    if (!isGapless && size === Number.POSITIVE_INFINITY) continue;
    if (size > room) break;
    room -= size;
    some.push(change);
  }
  return some;
}

function isWithoutBlob({ request }: AcknowledgedChange): boolean {
  return journalSize(request) < Number.POSITIVE_INFINITY;
}
