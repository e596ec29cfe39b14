import { fitting, WarmSet } from '../../storage/checkpoint/warm-set.ts';
import { type StoredRecord, savedVersion } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import { run } from '../scheduling/coroutine.ts';

/** The share of its documents that must be new before it is written again. */
const SHARE = 1 / 4;

/** Chooses the documents of the warm set: those that this visit has read first, then those of earlier ones. */
export class WarmSetWriter {
  readonly #context: Pick<CollectionContext, 'records' | 'recent' | 'storage' | 'settings'>;
  /** What is in storage, once it was looked for. */
  #stored: WarmSet | undefined;

  constructor(context: CollectionContext) {
    this.#context = context;
  }

  /**
   * Makes the next one, if one is due.
   *
   * @param covered The segments of the checkpoint: newer ones are read with the first answer anyway.
   * @param isRenewed Whether it is a new checkpoint, so that records may have moved.
   */
  async next(covered: ReadonlySet<number>, isRenewed: boolean): Promise<WarmSet | undefined> {
    const { records, storage, settings } = this.#context;
    this.#stored ??= await WarmSet.read(storage, settings.name);
    const before = this.#stored;
    const release = records.pin();
    try {
      const chosen = [...fitting(this.#candidates(covered, before), storage)];
      const missing = chosen.filter((record) => !before.has(record)).length;
      if (missing <= (isRenewed ? 0 : before.keys.length * SHARE)) return undefined;
      return WarmSet.of(chosen, await run(records.bodies.ofAll(chosen)));
    } finally {
      release();
    }
  }

  /** Must be called once it is stored. */
  stored(warm: WarmSet): void {
    this.#stored = warm;
  }

  *#candidates(covered: ReadonlySet<number>, before: WarmSet): Generator<StoredRecord> {
    const { records, recent } = this.#context;
    for (const key of new Set([...recent.keys, ...before.keys])) {
      const record = savedVersion(records.get(key));
      if (record && covered.has(record.segment)) yield record;
    }
  }
}
