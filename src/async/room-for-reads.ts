/** Segments that reads may read in any case: a small collection would turn its first ones away. */
const LEAST = 100;

/**
 * Makes room for reads: a long piece of work that reads all segments asks whether others read
 * meanwhile, which wait behind it, and then reads less at once. A limited number of times, as where
 * reads never end the work would take many times as long.
 */
export class RoomForReads {
  #hasRead = false;
  #times: number;
  #segments: number;

  /**
   * @param times How often it makes room.
   * @param segments That the work reads.
   */
  constructor(times: number, segments: number) {
    this.#times = times;
    this.#segments = Math.max(segments, LEAST);
  }

  /** Must be called with each read of others. @param segments That it reads. */
  noteRead(segments: number): void {
    this.#hasRead = true;
    this.#segments -= segments;
  }

  /** Whether others have read since the last call; counts as one time. */
  take(): boolean {
    const isWanted = this.#hasRead && this.#times-- > 0;
    this.#hasRead = false;
    return isWanted;
  }

  /**
   * Whether others have read as many segments as the work does, and a hundred at least. From then
   * on those that need segments should wait for it: it reads each one once, they read some again
   * and again.
   */
  get isFull(): boolean {
    return this.#segments <= 0;
  }
}
