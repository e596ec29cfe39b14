import type { StorageOperation } from '../drivers/driver.ts';

/**
 * Bytes that are sealed ahead of storage: storage has something to do meanwhile, and the thread
 * gets turns.
 */
const AHEAD = 256 * 1024;

/** An operation that is being sealed. */
export interface PendingSeal {
  /** Bytes of its value; `undefined` for one with Blobs, which are read first. */
  readonly size: number | undefined;
  readonly operation: Promise<StorageOperation>;
}

export function pendingSeal(
  size: number | undefined,
  seal: () => Promise<StorageOperation>,
): PendingSeal {
  const operation = seal();
  // Who awaits it gets the reason; nobody does when an earlier one has failed.
  operation.catch(() => undefined);
  return { size, operation };
}

/** The operations of a write, sealed some bytes ahead as they are drawn. */
export class SealedOperations implements Iterable<Promise<StorageOperation>> {
  /** Resolves when all are drawn from the source. */
  readonly drawn: Promise<void>;
  readonly #source: Iterator<PendingSeal>;
  readonly #queue: PendingSeal[] = [];
  #ahead = 0;
  #isDrawn: () => void = () => undefined;

  constructor(source: Iterable<PendingSeal>) {
    this.#source = source[Symbol.iterator]();
    this.drawn = new Promise((resolve) => {
      this.#isDrawn = resolve;
    });
  }

  /** Draws as much as is sealed ahead. @returns whether that is all. */
  drawAhead(): boolean {
    while (this.#ahead < AHEAD) {
      const next = this.#source.next();
      if (next.done) {
        this.#isDrawn();
        return true;
      }
      this.#queue.push(next.value);
      this.#ahead += sizeOf(next.value);
    }
    return false;
  }

  *[Symbol.iterator](): Generator<Promise<StorageOperation>> {
    for (;;) {
      this.drawAhead();
      const next = this.#queue.shift();
      if (!next) return;
      this.#ahead -= sizeOf(next);
      yield next.operation;
    }
  }
}

/** Blobs are read one value after the other: they may be large. */
function sizeOf({ size }: PendingSeal): number {
  return size ?? AHEAD;
}
