import { run } from '../../async/coroutine.ts';
import { nextTurn } from '../../async/next-turn.ts';
import type { Body } from '../../codec/body.ts';
import { fitting, mayBeWarm, WarmSet } from '../../storage/checkpoint/warm-set.ts';
import { type StoredRecord, savedVersion } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collection-context.ts';

/** The share of its documents that must be new before it is written again. */
const SHARE = 1 / 4;

/** Documents that are read at once: each may lie in a segment of its own, about 100 kB. */
const AT_ONCE = 16;

/**
 * Chooses the documents of the warm set: those that this visit has read first, then those of
 * earlier ones.
 */
export class WarmSetWriter {
  readonly #context: Pick<CollectionContext, 'records' | 'recent' | 'storage' | 'settings'>;
  /** The newest one, once it was looked for. */
  #newest: WarmSet | undefined;
  /** Whether that is still in storage. */
  #isStored = true;
  /** The keys of what earlier visits read first. */
  #earlier: readonly string[] = [];
  /** The keys of documents that cannot be copied. */
  readonly #refused = new Set<string>();

  constructor(context: CollectionContext) {
    this.#context = context;
  }

  /**
   * Must be called before the checkpoint is removed, with all that belongs to it: the next one has
   * the same documents.
   */
  async keep(): Promise<void> {
    await this.#read();
    this.removed();
  }

  /** Must be called when the checkpoint was removed, or is damaged: what is stored may be gone. */
  removed(): void {
    this.#isStored = false;
  }

  /**
   * Makes the next one, if one is due. Documents that are gone are due at once: the user may have
   * wanted that.
   *
   * @param covered The segments of the checkpoint: newer ones are read with the first answer
   *   anyway.
   * @param isRenewed Whether it is a new checkpoint, so that records may have moved.
   */
  async next(covered: ReadonlySet<number>, isRenewed: boolean): Promise<WarmSet | undefined> {
    const { records, storage } = this.#context;
    const before = await this.#read();
    const isDue = (chosen: readonly StoredRecord[]) => this.#isDue(chosen, before, isRenewed);
    const release = records.pin();
    try {
      const chosen = [...fitting(this.#candidates(covered), storage)];
      if (!isDue(chosen)) return undefined;
      const { copied, bodies } = await this.#copy(chosen, before);
      return isDue(copied) ? WarmSet.of(copied, bodies) : undefined;
    } finally {
      release();
    }
  }

  #isDue(chosen: readonly StoredRecord[], before: WarmSet, isRenewed: boolean): boolean {
    const { length } = before.keys;
    const missing = chosen.filter((record) => before.body(record) === undefined).length;
    const left = length + missing - chosen.length;
    if (!this.#isStored) return chosen.length > 0;
    if (isRenewed) return missing + left > 0;
    const { records } = this.#context;
    return (
      missing > length * SHARE || (left > 0 && before.keys.some((key) => !records.table.get(key)))
    );
  }

  /** Must be called once it is stored. */
  stored(warm: WarmSet): void {
    this.#newest = warm;
    this.#isStored = true;
  }

  async #read(): Promise<WarmSet> {
    if (!this.#newest) {
      const { storage, settings } = this.#context;
      this.#newest = await WarmSet.read(storage, settings.name);
      this.#earlier = this.#newest.keys;
    }
    return this.#newest;
  }

  *#candidates(covered: ReadonlySet<number>): Generator<StoredRecord> {
    const { records, recent } = this.#context;
    for (const key of new Set([...recent.keys, ...this.#earlier])) {
      const record = savedVersion(records.table.get(key));
      if (record && covered.has(record.segment) && !this.#refused.has(key)) yield record;
    }
  }

  /**
   * Copies records, but for those whose document cannot be read: the read that wants it reports
   * that.
   */
  async #copy(chosen: readonly StoredRecord[], before: WarmSet) {
    const { records } = this.#context;
    const read = async (record: StoredRecord) =>
      before.body(record) ?? (await run(records.bodies.of(record)));
    const copied: StoredRecord[] = [];
    const bodies: Body[] = [];
    for (let from = 0; from < chosen.length; from += AT_ONCE) {
      const some = chosen.slice(from, from + AT_ONCE);
      const found = await Promise.allSettled(some.map(read));
      for (const [at, one] of found.entries()) {
        const record = some[at] as StoredRecord;
        if (one.status === 'rejected' || !mayBeWarm(one.value)) this.#refused.add(record.key);
        else {
          copied.push(record);
          bodies.push(one.value);
        }
      }
      await nextTurn();
    }
    return { copied, bodies };
  }
}
