import { firstWhere } from '../../../codec/first-where.ts';
import type { RecordPart } from '../../../storage/segments/record-part.ts';
import type { StoredRecord } from '../../../storage/segments/stored-record.ts';

/** Parts of records, one after another. The place of a record among all of them is its slot. */
export class PartList {
  readonly parts: RecordPart[] = [];
  /** The slot of the first record of each part. */
  readonly #starts: number[] = [];
  #length = 0;
  /** The part that was looked at last: slots often come in order. */
  #last = 0;

  constructor(parts: readonly RecordPart[] = []) {
    for (const part of parts) this.append(part);
  }

  get length(): number {
    return this.#length;
  }

  append(part: RecordPart): void {
    if (part.length === 0) return;
    this.parts.push(part);
    this.#starts.push(this.#length);
    this.#length += part.length;
  }

  /** The record of a slot, the same one each time. */
  at(slot: number): StoredRecord {
    const part = this.#partOf(slot);
    return part.at(slot - this.#start);
  }

  /** As {@link RecordPart.placeOf}. */
  placeOf(slot: number): ReturnType<RecordPart['placeOf']> {
    const part = this.#partOf(slot);
    return part.placeOf(slot - this.#start);
  }

  /** As {@link RecordPart.free}. */
  free(slot: number): void {
    const part = this.#partOf(slot);
    part.free(slot - this.#start);
  }

  /** The records of all slots. */
  records(): StoredRecord[] {
    return this.parts.flatMap((part) => part.records());
  }

  get #start(): number {
    return this.#starts[this.#last] as number;
  }

  #partOf(slot: number): RecordPart {
    const last = this.parts[this.#last];
    if (!last || slot < this.#start || slot >= this.#start + last.length) {
      const starts = this.#starts;
      this.#last = firstWhere(1, starts.length, (at) => (starts[at] as number) > slot) - 1;
    }
    return this.parts[this.#last] as RecordPart;
  }
}
