import { PAGE_BYTES } from '../store.ts';

/** A row of the memory store. A change replaces it by another. */
export interface MemoryRow {
  readonly id: string;
  readonly version: string;
  readonly seq: number;
  /** Of the last accepted pushes, newest first, with the versions that these made. */
  readonly keys: readonly string[];
  readonly versions: readonly string[];
  /** JSON, so that nobody shares its objects; `undefined`: deleted. */
  readonly json: string | undefined;
  /** Of the JSON in UTF-8. */
  readonly bytes: number;
}

/** The newest state of each document, in the order of the changes. */
export class ChangeLog {
  readonly #rows = new Map<string, MemoryRow>();
  /** By number; replaced rows stay until there are as many as present ones. */
  #order: MemoryRow[] = [];

  get newest(): number {
    return this.#order.at(-1)?.seq ?? 0;
  }

  get(id: string): MemoryRow | undefined {
    return this.#rows.get(id);
  }

  put(row: MemoryRow): void {
    this.#rows.set(row.id, row);
    this.#order.push(row);
    if (this.#order.length > 2 * this.#rows.size + 16) {
      this.#order = this.#order.filter((each) => this.#rows.get(each.id) === each);
    }
  }

  /** The rows after a number, until the limit or the bytes are reached. */
  after(seq: number, limit: number): { rows: MemoryRow[]; more: boolean } {
    const rows: MemoryRow[] = [];
    let bytes = 0;
    for (let at = this.#indexAfter(seq); at < this.#order.length; at++) {
      const row = this.#order[at] as MemoryRow;
      if (this.#rows.get(row.id) !== row) continue;
      if (rows.length === limit || bytes >= PAGE_BYTES) return { rows, more: true };
      rows.push(row);
      bytes += row.bytes;
    }
    return { rows, more: false };
  }

  copy(): ChangeLog {
    const copy = new ChangeLog();
    for (const row of this.#order) if (this.#rows.get(row.id) === row) copy.put(row);
    return copy;
  }

  /** Binary search. */
  #indexAfter(seq: number): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#order[middle] as MemoryRow).seq > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
