/** Segments that reads may read in any case: a small collection would turn its first ones away. */
const LEAST = 100;

/** Lets other reads go first, so many times, while a long piece of work reads all segments. */
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
