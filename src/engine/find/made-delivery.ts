import type { Body } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { Visited } from '../records/scan.ts';
import type { BegunScan, Delivery } from './late-reads.ts';

/** A result that is not of records. */
export type MadeResult = Pick<BegunScan, 'delivery' | 'select'>;

/** The record of what no record holds. */
const NO_RECORD = new StoredRecord('', 0, 0, undefined, undefined);

const unwrap = (_: unknown, body: Body) => (body as { readonly exact: object }).exact;

/** What delivers documents that were made for a call. */
export function madeResult(documents: readonly object[]): MadeResult {
  return { delivery: new MadeDelivery(documents), select: unwrap };
}

/** Delivers a list of documents, each in the place of a body. */
class MadeDelivery implements Delivery {
  readonly sorted = true;
  readonly floor = 0;
  #documents: readonly object[];
  #at = 0;

  constructor(documents: readonly object[]) {
    this.#documents = documents;
  }

  get done(): boolean {
    return this.#at >= this.#documents.length;
  }

  next(limit: number, size: number): Visited[] {
    const found: Visited[] = [];
    for (let room = size; !this.done && found.length < limit && room > 0; this.#at++) {
      const body = { exact: this.#documents[this.#at] };
      found.push({ record: NO_RECORD, body });
      room -= bodySize(body);
    }
    return found;
  }

  end(): void {
    this.#documents = [];
  }
}
