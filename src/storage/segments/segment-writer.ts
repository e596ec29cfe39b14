import type { StorageKey, StorageOperation } from '../drivers/driver.ts';
import {
  buildSegment,
  type IndexColumns,
  type Segment,
  type SegmentBodies,
  type SegmentContent,
  type SegmentSizes,
} from './segment.ts';
import type { StoredRecord } from './stored-record.ts';
import { putSegment } from './stored-segment.ts';

/** A segment that is being written, with its records. */
export interface Written {
  readonly segment: Segment;
  readonly bodies: SegmentBodies;
  readonly records: readonly StoredRecord[];
  readonly rows: SegmentContent['rows'];
}

/** Builds and numbers the segments of a log, and makes the operations on them. */
export class SegmentWriter {
  /** The highest number so far. Invariant: no segment in storage has a higher one. */
  last = 0;
  readonly sizes: SegmentSizes;
  readonly #name: string;
  readonly #columns: () => IndexColumns;

  constructor(name: string, columns: () => IndexColumns, sizes: SegmentSizes) {
    this.sizes = sizes;
    this.#name = name;
    this.#columns = columns;
  }

  /**
   * Builds segments lazily, one at a time.
   *
   * @param after Number of the newest live segment.
   */
  *build(
    contents: Iterable<SegmentContent>,
    after: number,
    { staged, watermarks }: Pick<Segment, 'staged' | 'watermarks'> = {},
  ): Generator<Written> {
    let before = after;
    let first = true;
    for (const content of contents) {
      const number = ++this.last;
      const position: Parameters<typeof buildSegment>[1] = {
        number,
        after: before,
        ...(staged && { staged }),
        ...(first && watermarks && watermarks.length > 0 && { watermarks }),
      };
      first = false;
      const { records, rows } = content;
      yield { ...buildSegment(content, position, this.#columns(), this.sizes), records, rows };
      before = number;
    }
  }

  /**
   * Puts segments, each built lazily when it is put: a large save must not block the thread.
   *
   * @param drawn Receives the segments put so far.
   */
  *puts(segments: Iterable<Written>, drawn: Written[] = []): Generator<StorageOperation> {
    for (const one of segments) {
      drawn.push(one);
      const { segment, bodies } = one;
      const key = [this.#name, segment.number];
      yield putSegment(this.#name, segment);
      if (!segment.bodies)
        yield { type: 'put', store: 'bodies', key, value: bodies, size: bodies.size };
    }
  }

  deletions(numbers: readonly number[]): StorageOperation[] {
    return deletionsOf(numbers.map((number) => [this.#name, number]));
  }
}

/** Deletes segments with their bodies, store by store: drivers may join adjacent keys. */
export function deletionsOf(keys: readonly StorageKey[]): StorageOperation[] {
  const stores = ['segments', 'bodies'] as const;
  return stores.flatMap((store) => keys.map((key) => ({ type: 'delete' as const, store, key })));
}
