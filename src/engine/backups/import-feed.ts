import type { FilePart } from '../../backup/file/file-contents.ts';

interface Push {
  /** `undefined` at the end of the file. */
  readonly part: FilePart | undefined;
  readonly taken: () => void;
}

/** The parts of a file as a client sends them. The client sends the next part once the import has taken one. */
export class ImportFeed implements AsyncIterable<FilePart> {
  #push: Push | undefined;
  #arrived: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;
  #ended = false;

  /**
   * Hands over a part, `undefined` at the end of the file. Parts must come one after the other.
   *
   * @returns whether the import has taken it; `false` once the import wants no more.
   */
  async push(part: FilePart | undefined): Promise<boolean> {
    if (this.#ended) return false;
    await new Promise<void>((taken) => {
      this.#push = { part, taken };
      this.#arrived?.();
    });
    return !this.#ended;
  }

  /** Makes the import fail: the client gives up. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#arrived?.();
  }

  /** The import wants no more. */
  end(): void {
    this.#ended = true;
    this.#push?.taken();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FilePart, void> {
    for (;;) {
      if (!this.#push && !this.#failure) {
        await new Promise<void>((arrived) => {
          this.#arrived = arrived;
        });
      }
      if (this.#failure) throw this.#failure.error;
      const { part, taken } = this.#push as Push;
      this.#push = undefined;
      taken();
      if (!part) return;
      yield part;
    }
  }
}
