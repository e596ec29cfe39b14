interface Part {
  /** `undefined` at the end of the file. */
  readonly bytes: Uint8Array | undefined;
  readonly taken: () => void;
}

/** The bytes of a file as they come in from a page, part by part; the next is wanted when one was taken. */
export class ImportFeed implements AsyncIterable<Uint8Array> {
  /** Bytes taken so far. */
  bytes = 0;
  #part: Part | undefined;
  #arrived: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;
  #ended = false;

  /**
   * Hands over a part, `undefined` at the end of the file. Parts must come one after the other.
   *
   * @returns whether it was taken; `false` when nothing is wanted any more.
   */
  async push(bytes: Uint8Array | undefined): Promise<boolean> {
    if (this.#ended) return false;
    await new Promise<void>((taken) => {
      this.#part = { bytes, taken };
      this.#arrived?.();
    });
    return !this.#ended;
  }

  /** No more will come. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#arrived?.();
  }

  /** Nothing is wanted any more. */
  end(): void {
    this.#ended = true;
    this.#part?.taken();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      if (!this.#part && !this.#failure) {
        await new Promise<void>((arrived) => {
          this.#arrived = arrived;
        });
      }
      if (this.#failure) throw this.#failure.error;
      const part = this.#part as Part;
      this.#part = undefined;
      part.taken();
      if (!part.bytes) return;
      this.bytes += part.bytes.length;
      yield part.bytes;
    }
  }
}
