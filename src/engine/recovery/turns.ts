import type { FencedStorage } from '../../storage/fenced-storage.ts';
import { EPOCH_SPAN } from '../../storage/log/manifest.ts';

/** Numbers the batches of all leaders, so that a replay keeps their order. */
export class Turns {
  readonly #storage: FencedStorage;
  #turns = 0;
  /** The turns of earlier leaders are lower. */
  #from = 0;

  constructor(storage: FencedStorage) {
    this.#storage = storage;
  }

  /** Must be called as a batch begins. The returned function gives its number, once earlier leaders' turns are known. */
  take(): () => number {
    this.#storage.touch();
    const turn = ++this.#turns;
    return () => this.#from + turn;
  }

  /** @param last The last turn of a replay. */
  async startAfter(last: number): Promise<void> {
    this.#from = Math.max(last, (await this.#storage.epoch()) * EPOCH_SPAN);
  }
}
