const encoder = new TextEncoder();
const FIRST_SIZE = 64 * 1024;

/** A buffer that grows as bytes are appended. Numbers are little-endian. */
export class ByteBuffer {
  length = 0;
  #bytes = new Uint8Array(FIRST_SIZE);
  #view = new DataView(this.#bytes.buffer);

  /** The bytes so far; valid until the next change. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.length);
  }

  /** Valid until the next change. */
  get view(): DataView {
    return this.#view;
  }

  clear(): void {
    this.length = 0;
  }

  /** Appends zeros. @returns their offset. */
  skip(count: number): number {
    const at = this.length;
    this.#reserve(count);
    this.#bytes.fill(0, at, at + count);
    this.length += count;
    return at;
  }

  /** Appends zeros up to a multiple of eight. */
  align(): void {
    this.skip(-this.length & 7);
  }

  add(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Appends UTF-8. @returns its length in bytes. */
  addText(text: string): number {
    // A UTF-16 code unit takes three bytes at the most.
    this.#reserve(text.length * 3);
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(this.length));
    this.length += written;
    return written;
  }

  dropFirst(count: number): void {
    this.#bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }

  #reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
