import { isDate } from '../value/value-type.ts';
import { keysIn } from './collated-keys.ts';

/** Documents side by side, with the values at their paths. */
export interface Block {
  readonly documents: readonly object[];
  /** Where those that count stand among them. */
  readonly rows: Int32Array;
  readonly length: number;
  /** As that of `DecodedDocuments`. */
  column(path: string): readonly unknown[] | undefined;
}

/** An expression as stages have it. */
interface IdExpression {
  readonly evaluate: (document: object) => unknown;
  readonly roots: ReadonlySet<string>;
  /** The path, where it is nothing else. */
  readonly path: string | undefined;
}

/** An expression of the `_id` of groups: its values get numbers in the order they come. */
export class IdPart {
  /** By number. */
  readonly values: unknown[] = [];
  readonly #expression: IdExpression;
  readonly #isAlone: boolean;
  readonly #isPlain: boolean;
  readonly #keyOf: (value: unknown) => unknown;
  readonly #numbering = new Numbering();
  /** Of what a column has, by its code there; -1 for one that has none yet. */
  #ofCodes = new Int32Array(0);
  #numbers = new Int32Array(0);

  /** @param isAlone Whether a missing value is null: it is a missing field of several. */
  constructor(expression: IdExpression, isAlone: boolean, collation: string | undefined) {
    this.#expression = expression;
    this.#isAlone = isAlone;
    this.#isPlain = collation === undefined;
    this.#keyOf = keysIn(collation);
  }

  /** The number of the value of each document. It stands until the next call. */
  read(block: Block): Int32Array {
    const { documents, rows, length } = block;
    if (this.#numbers.length < length) this.#numbers = new Int32Array(length);
    const numbers = this.#numbers;
    const codes = this.#codesOf(block);
    const { evaluate } = this.#expression;
    for (let at = 0; at < length; at++) {
      const row = rows[at] as number;
      const code = codes ? (codes[row] as number) : -1;
      const known = code < 0 ? -1 : (this.#ofCodes[code] as number);
      const number = known < 0 ? this.#numberOf(evaluate(documents[row] as object)) : known;
      if (code >= 0) this.#ofCodes[code] = number;
      numbers[at] = number;
    }
    return numbers;
  }

  /** Where all depends on one field of few values, each of them is looked at once. */
  #codesOf({ column, rows, length }: Block): Int32Array | undefined {
    const { path, roots } = this.#expression;
    const [root] = roots;
    const values = root === undefined || roots.size > 1 ? undefined : column(path ?? root);
    const found = values && length > 0 ? codesOf(values, rows[length - 1] as number) : undefined;
    const count = found?.numbering.count ?? 0;
    if (count <= this.#ofCodes.length) return found?.codes;
    const before = this.#ofCodes;
    this.#ofCodes = new Int32Array(2 * count).fill(-1);
    this.#ofCodes.set(before);
    return found?.codes;
  }

  #numberOf(given: unknown): number {
    const value = this.#isAlone ? (given ?? null) : given;
    const isPlain = this.#isPlain && typeof value === 'string' && value.charCodeAt(0) !== 0;
    const number = this.#numbering.of(isPlain || isDate(value) ? value : this.#keyOf(value));
    if (number === this.values.length) this.values.push(value);
    return number;
  }
}

/** Numbers of values, in the order in which they come; dates count by their time. */
class Numbering {
  /** How many different values there are so far. */
  count = 0;
  readonly #known = new Map<unknown, number>();
  /** To make a text of each date takes longer than all else. */
  readonly #dates = new Map<unknown, number>();

  of(value: unknown): number {
    const isTime = isDate(value);
    const known = isTime ? this.#dates : this.#known;
    const key = isTime ? value.getTime() : value;
    const number = known.get(key);
    if (number !== undefined) return number;
    known.set(key, this.count);
    return this.count++;
  }
}

/** Rows that are looked at before it is known whether few values are many times there. */
const TRIED = 1024;

/** The values of a column as numbers: of those that are the same, the number is the same. */
class ColumnCodes {
  /** By row, up to the last that was read. */
  readonly codes: Int32Array;
  readonly numbering = new Numbering();
  readonly #column: readonly unknown[];
  #made = 0;
  #isUseful = true;

  constructor(column: readonly unknown[]) {
    this.#column = column;
    this.codes = new Int32Array(column.length);
  }

  /** Makes those up to a row; tells whether they are fewer than rows, and can be told apart. */
  reach(row: number): boolean {
    for (; this.#isUseful && this.#made <= row; this.#made++) {
      const value = this.#column[this.#made];
      this.codes[this.#made] = this.numbering.of(value);
      const { count } = this.numbering;
      const isScalar = typeof value !== 'object' || value === null || isDate(value);
      const isMany = count > TRIED && count > this.#made / 4;
      // A map takes -0 for 0.
      if (!isScalar || isMany || Object.is(value, -0)) this.#isUseful = false;
    }
    return this.#isUseful;
  }
}

/** A column lives until the next change. */
const ofColumns = new WeakMap<readonly unknown[], ColumnCodes>();

/** The codes of a column up to a row; `undefined` where its values have to be looked at. */
function codesOf(column: readonly unknown[], row: number): ColumnCodes | undefined {
  const known = ofColumns.get(column);
  const codes = known ?? new ColumnCodes(column);
  if (!known) ofColumns.set(column, codes);
  return codes.reach(row) ? codes : undefined;
}
