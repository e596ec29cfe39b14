import type { States } from './states.ts';

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

export class Average extends ExactSum {
  override result(): number | null {
    return averageOf(super.result(), this.count);
  }
}

export function averageOf(sum: unknown, count: number): number | null {
  return count === 0 ? null : Number(sum) / count;
}

/** The exact sums of many groups, in columns: half the time that objects take. */
export class SumStates implements States {
  #highs = new Float64Array(64);
  #lows = new Float64Array(64);
  #counts = new Int32Array(64);
  #length = 0;
  /** What columns cannot hold. */
  readonly #rests = new Map<number, ExactSum>();
  readonly #finish: (sum: number | bigint | null, count: number) => unknown;

  constructor(finish: (sum: number | bigint | null, count: number) => unknown) {
    this.#finish = finish;
  }

  open(): void {
    if (++this.#length <= this.#highs.length) return;
    const [highs, lows, counts] = [this.#highs, this.#lows, this.#counts];
    this.#highs = new Float64Array(2 * highs.length);
    this.#lows = new Float64Array(2 * highs.length);
    this.#counts = new Int32Array(2 * highs.length);
    this.#highs.set(highs);
    this.#lows.set(lows);
    this.#counts.set(counts);
  }

  addAll(groups: Int32Array, values: readonly unknown[], rows: Int32Array, length: number): void {
    const [highs, lows, counts] = [this.#highs, this.#lows, this.#counts];
    for (let at = 0; at < length; at++) {
      const value = values[rows[at] as number];
      const group = groups[at] as number;
      if (typeof value !== 'number') {
        if (typeof value === 'bigint') this.#addRest(group, value);
        continue;
      }
      const before = highs[group] as number;
      const high = before + value;
      const added = high - before;
      const error = before - (high - added) + (value - added);
      const lowBefore = lows[group] as number;
      const low = lowBefore + error;
      const lowAdded = low - lowBefore;
      if (lowBefore - (low - lowAdded) + (error - lowAdded) === 0) {
        highs[group] = high;
        lows[group] = low;
        (counts[group] as number)++;
      } else this.#addRest(group, value);
    }
  }

  result(group: number): unknown {
    const rest = this.#rests.get(group);
    const [high, low] = [this.#highs[group] as number, this.#lows[group] as number];
    if (!rest) return this.#finish(high + low, this.#counts[group] as number);
    const count = (this.#counts[group] as number) + rest.count;
    rest.add(high);
    rest.add(low);
    return this.#finish(rest.result(), count);
  }

  #addRest(group: number, value: number | bigint): void {
    const rest = this.#rests.get(group) ?? new ExactSum();
    rest.add(value);
    this.#rests.set(group, rest);
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
