/**
 * Makes room for reads: a long piece of work that reads ahead asks whether others read meanwhile, which wait behind it, and
 * then reads less at once. A limited number of times, as where reads never end the work would take many times as long.
 */
export class RoomForReads {
  #hasRead = false;
  #left: number;

  /** @param times How often it makes room. */
  constructor(times: number) {
    this.#left = times;
  }

  /** Must be called with each read of others. */
  noteRead(): void {
    this.#hasRead = true;
  }

  /** Whether others have read since the last call; counts as one time. */
  take(): boolean {
    const isWanted = this.#hasRead && this.#left-- > 0;
    this.#hasRead = false;
    return isWanted;
  }
}
