import type { Durability } from '../../storage/drivers/driver.ts';
import type { FencedStorage } from '../../storage/fenced-storage.ts';
import type { AcknowledgedChange, OpenedHandles } from '../protocol/requests.ts';

/** The changes of a page that ended before it knew them to be durable. */
export interface RecoveryRecord {
  readonly client: string;
  /** Counts how often the page was hidden or ended. */
  readonly ending: number;
  /** The id of the database; left out by a page that had not reached any. */
  readonly database?: string | undefined;
  /** The collections that the changes are about. */
  readonly opened: OpenedHandles;
  readonly changes: readonly AcknowledgedChange[];
}

export type RecoveryKey = readonly [client: string, ending: number];

/** Where pages that ended wrote their changes: recovery records in storage, and unload journals. */
export class RecoveryRecords {
  readonly #storage: FencedStorage;
  readonly #durability: Durability;
  readonly #forgotten: (keys: readonly RecoveryKey[]) => void;
  /** The unload journals that are not durable yet. */
  #journals: Promise<readonly RecoveryRecord[]>;

  /** @param forgotten Called with the keys of records whose changes are durable: their journals can go. */
  constructor(
    storage: FencedStorage,
    durability: Durability,
    journals: Promise<readonly RecoveryRecord[]>,
    forgotten: (keys: readonly RecoveryKey[]) => void,
  ) {
    this.#storage = storage;
    this.#durability = durability;
    this.#journals = journals;
    this.#forgotten = forgotten;
  }

  /** A further page has ended; these are the journals there are now. */
  setJournals(journals: readonly RecoveryRecord[]): void {
    this.#journals = Promise.resolve(journals);
  }

  /** Most pages write both; the one with fewer changes is left out. */
  async list(): Promise<readonly RecoveryRecord[]> {
    const stored = (await this.#storage.left()) as RecoveryRecord[];
    const longest = new Map<string, RecoveryRecord>();
    for (const one of [...stored, ...(await this.#journals)]) {
      const key = JSON.stringify([one.client, one.ending]);
      const other = longest.get(key);
      if (!other || other.changes.length < one.changes.length) longest.set(key, one);
    }
    return [...longest.values()];
  }

  /** Removes records. Their changes must be saved. */
  async forget(keys: readonly RecoveryKey[]): Promise<void> {
    await this.#storage.forget(keys, this.#durability);
    const isForgotten = (one: RecoveryRecord) => keys.some((key) => hasKey(one, key));
    this.#journals = this.#journals.then((all) => all.filter((one) => !isForgotten(one)));
    this.#forgotten(keys);
  }
}

function hasKey(record: RecoveryRecord, [client, ending]: RecoveryKey): boolean {
  return client === record.client && ending === record.ending;
}
