import type { SegmentLog } from '../../storage/log/segment-log.ts';

/**
 * Keeps compaction and readers apart: a reader that waits remembers segments by their number, and compaction must not
 * remove them meanwhile.
 */
export class CompactionGuard {
  readonly #log: SegmentLog;
  #pins = 0;
  #compacting = false;

  constructor(log: SegmentLog) {
    this.#log = log;
  }

  /** Keeps compaction away. Returns the release. */
  pin(): () => void {
    this.#pins++;
    return () => {
      this.#pins--;
      this.#forgetReplaced();
    };
  }

  /** Whether compaction has to wait. */
  get pinned(): boolean {
    return this.#pins > 0;
  }

  /** Runs a compaction; must not be called while {@link pinned}. */
  async compact<T>(work: () => Promise<T>): Promise<T> {
    this.#compacting = true;
    try {
      return await work();
    } finally {
      this.#compacting = false;
      this.#forgetReplaced();
    }
  }

  /** A reader that began before a compaction may still need the replaced segments. */
  #forgetReplaced(): void {
    if (this.pinned || this.#compacting || this.#log.isCompactionInDoubt) return;
    this.#log.bodies.forgetReplaced();
  }
}
