import { WARM_MOST } from '../../storage/checkpoint/warm-set.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/**
 * The documents that the first reads of a visit look at. Apps begin with the same reads each time,
 * so the next visit will want them before all others.
 */
export class RecentReads {
  readonly #keys = new Set<string>();
  /** Called when there are more. */
  noted: () => void = () => undefined;

  get keys(): Iterable<string> {
    return this.#keys;
  }

  /**
   * Notes what a read by ids or by an index has found. Hot path: does nothing once there are
   * enough.
   */
  note(found: readonly (Pick<StoredRecord, 'key'> | undefined)[]): void {
    const { size } = this.#keys;
    // What finds more waits for the opening in any case.
    if (size >= WARM_MOST || found.length > WARM_MOST) return;
    for (const one of found) if (one && this.#keys.size < WARM_MOST) this.#keys.add(one.key);
    if (this.#keys.size > size) this.noted();
  }
}
