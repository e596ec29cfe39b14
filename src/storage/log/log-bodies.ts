import type { Segment, SegmentBodies } from '../segments/segment.ts';
import type { SegmentPool } from '../segments/segment-pool.ts';

/** The bodies of a collection's segments: where they rest, and which are at hand. */
export class LogBodies {
  readonly #collection: string;
  readonly #pool: SegmentPool;
  /** Of every segment that was read or written, live or not: whether its bodies are in it. */
  readonly #inline = new Map<number, boolean>();
  /**
   * Bodies of segments that a compaction is replacing or has replaced, for readers that began before it:
   * storage may no longer have them. Emptied by {@link LogBodies.forgetReplaced}.
   */
  readonly #replaced = new Map<number, SegmentBodies>();

  constructor(collection: string, pool: SegmentPool) {
    this.#collection = collection;
    this.#pool = pool;
  }

  /** Takes note of a segment that was read or written. */
  note({ number, bodies }: Segment): void {
    this.#inline.set(number, bodies !== undefined);
  }

  /** Those of these segments, which were read or written, whose bodies are values of their own. */
  apart(numbers: Iterable<number>): number[] {
    return [...numbers].filter((number) => this.#inline.get(number) === false);
  }

  /** The bodies of a segment, from the pool or from storage. */
  load(number: number): Promise<SegmentBodies> {
    const atHand = this.peek(number);
    if (atHand) return Promise.resolve(atHand);
    const inline = this.#inline.get(number) ?? false;
    return this.#pool.load({ collection: this.#collection, number, inline });
  }

  /** The bodies of a segment, if they are at hand. */
  peek(number: number): SegmentBodies | undefined {
    return this.#replaced.get(number) ?? this.#pool.peek(this.#collection, number);
  }

  /** Keeps bodies at hand that were just written. */
  keep(bodies: SegmentBodies): void {
    this.#pool.keep(this.#collection, bodies);
  }

  /** Drops bodies that all records of a segment keep themselves by now. */
  release(number: number): void {
    this.#pool.forget(this.#collection, number);
  }

  /** Keeps bodies for those who read them from a segment that is about to go. */
  keepReplaced(bodies: SegmentBodies): void {
    this.#replaced.set(bodies.number, bodies);
  }

  forgetReplaced(): void {
    this.#replaced.clear();
  }

  /** Forgets segments that are no more. */
  forget(numbers: Iterable<number>): void {
    for (const number of numbers) {
      this.#inline.delete(number);
      this.release(number);
    }
  }
}
