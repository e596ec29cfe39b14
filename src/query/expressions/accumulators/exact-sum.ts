/** Exponent of the least number above 0, the unit of what two numbers cannot hold. */
const LEAST = 1074n;
const ONE = 1n << LEAST;

/**
 * The exact sum of numbers and bigints, rounded once: the order of additions does not matter, and
 * what was added can be removed.
 *
 * Two numbers hold nearly every sum (Knuth's TwoSum); a bigint takes what is lost beyond them.
 */
export class ExactSum {
  #high = 0;
  #low = 0;
  /** In units of 2 ** -1074. */
  #rest = 0n;
  #bigints = 0;
  #nans = 0;
  #ups = 0;
  #downs = 0;
  /** How many numbers there are. */
  count = 0;

  /** Adds a number; other values are ignored. */
  add(value: unknown): void {
    if (typeof value === 'number') {
      this.count++;
      this.#addNumber(value, 1);
    } else if (typeof value === 'bigint') {
      this.count++;
      this.#addBigint(value, 1);
    }
  }

  /** Takes away what was added before. */
  remove(value: unknown): void {
    if (typeof value === 'number') {
      this.count--;
      this.#addNumber(Number.isFinite(value) ? -value : value, -1);
    } else if (typeof value === 'bigint') {
      this.count--;
      this.#addBigint(-value, -1);
    }
  }

  /** A bigint where there was one and the sum is whole, else a number. */
  result(): number | bigint | null {
    if (this.#nans > 0 || (this.#ups > 0 && this.#downs > 0)) return Number.NaN;
    if (this.#ups > 0) return Number.POSITIVE_INFINITY;
    if (this.#downs > 0) return Number.NEGATIVE_INFINITY;
    if (this.#bigints === 0 && this.#rest === 0n) return this.#high + this.#low;
    const units = this.#rest + unitsOf(this.#high) + unitsOf(this.#low);
    return this.#bigints > 0 && units % ONE === 0n ? units >> LEAST : rounded(units);
  }

  #addNumber(value: number, count: 1 | -1): void {
    const high = this.#high + value;
    const added = high - this.#high;
    const error = this.#high - (high - added) + (value - added);
    if (error === 0) this.#high = high;
    else this.#addInexact(value, high, error, count);
  }

  #addInexact(value: number, high: number, error: number, count: 1 | -1): void {
    if (!Number.isFinite(value)) {
      if (Number.isNaN(value)) this.#nans += count;
      else if (value > 0) this.#ups += count;
      else this.#downs += count;
    } else if (!Number.isFinite(error)) {
      this.#rest += unitsOf(value);
    } else {
      this.#high = high;
      const low = this.#low + error;
      const added = low - this.#low;
      const lost = this.#low - (low - added) + (error - added);
      this.#low = low;
      if (lost !== 0) this.#rest += unitsOf(lost);
    }
  }

  #addBigint(value: bigint, count: 1 | -1): void {
    this.#bigints += count;
    this.#rest += value << LEAST;
  }
}

const double = new Float64Array(1);
const bits = new BigUint64Array(double.buffer);

/** A finite number in units of 2 ** -1074. */
function unitsOf(value: number): bigint {
  double[0] = Math.abs(value);
  const exponent = (bits[0] as bigint) >> 52n;
  const fraction = (bits[0] as bigint) & 0xf_ffff_ffff_ffffn;
  const units = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return value < 0 ? -units : units;
}

/** The nearest number, halves to the even one. */
function rounded(units: bigint): number {
  const size = units < 0n ? -units : units;
  const drop = Math.max(0, size.toString(16).length * 4 - 64);
  const kept = size >> BigInt(drop);
  // A last bit stands for all that were dropped, so that a half is one.
  const sticky = kept << BigInt(drop) === size ? kept : kept | 1n;
  const value = Number(sticky) * 2 ** (drop - Number(LEAST));
  return units < 0n ? -value : value;
}
