/** The first 32 bits of the fractional parts of the square or cube roots of the first primes. */
function fractions(count: number, root: number): Uint32Array {
  const found = new Uint32Array(count);
  let at = 0;
  for (let n = 2; at < count; n++) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= n && isPrime; divisor++) isPrime = n % divisor !== 0;
    if (isPrime) found[at++] = (n ** (1 / root) % 1) * 2 ** 32;
  }
  return found;
}

const K = fractions(64, 3);
const BLOCK = 64;

/**
 * SHA-256 (FIPS 180-4) of bytes that come in parts: `crypto.subtle` takes all at once, and a file
 * may not fit into memory.
 */
export class BytesHash {
  readonly #state = fractions(8, 2);
  readonly #block = new Uint8Array(BLOCK);
  readonly #words = new Uint32Array(BLOCK);
  #length = 0;

  add(bytes: Uint8Array): this {
    let from = 0;
    while (from < bytes.length) {
      const filled = this.#length % BLOCK;
      const part = bytes.subarray(from, from + BLOCK - filled);
      this.#block.set(part, filled);
      this.#length += part.length;
      from += part.length;
      if (this.#length % BLOCK === 0) this.#compress();
    }
    return this;
  }

  /** The hash in hexadecimal digits. Nothing can be added afterwards. */
  end(): string {
    const bits = this.#length * 8;
    const padding = new Uint8Array(BLOCK - ((this.#length + 8) % BLOCK));
    padding[0] = 0x80;
    const length = new DataView(new ArrayBuffer(8));
    length.setUint32(0, Math.floor(bits / 2 ** 32));
    length.setUint32(4, bits >>> 0);
    this.add(padding).add(new Uint8Array(length.buffer));
    return [...this.#state].map((word) => word.toString(16).padStart(8, '0')).join('');
  }

  #compress(): void {
    const w = this.#words;
    const view = new DataView(this.#block.buffer);
    for (let t = 0; t < 16; t++) w[t] = view.getUint32(t * 4);
    const at = (t: number) => w[t] as number;
    for (let t = 16; t < 64; t++) {
      const [near, far] = [at(t - 2), at(t - 15)];
      const s0 = turned(far, 7) ^ turned(far, 18) ^ (far >>> 3);
      const s1 = turned(near, 17) ^ turned(near, 19) ^ (near >>> 10);
      w[t] = at(t - 16) + s0 + at(t - 7) + s1;
    }
    let [a, b, c, d, e, f, g, h] = this.#state as unknown as [...EightWords];
    for (let t = 0; t < 64; t++) {
      const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + (K[t] as number) + at(t)) | 0;
      const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    for (const [place, word] of [a, b, c, d, e, f, g, h].entries())
      this.#state[place] = (this.#state[place] as number) + word;
  }
}

type EightWords = [number, number, number, number, number, number, number, number];

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));
