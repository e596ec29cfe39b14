import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { boundOf, type KeyRange } from '../../query/index/key-range.ts';
import type { PlannedIndex } from '../../query/plan/plan-query.ts';
import type { IndexDirectory } from '../../storage/checkpoint/checkpoint-format.ts';
import { type KeyBounds, pagesOf } from '../../storage/checkpoint/checkpoint-reader.ts';

/** An index in storage, with its directory in memory. */
export class StoredIndex implements PlannedIndex {
  readonly definition: IndexDefinition;
  readonly directory: IndexDirectory;
  /** The name of its column in segments. */
  readonly column: string;

  constructor(definition: IndexDefinition, column: string, directory: IndexDirectory) {
    this.definition = definition;
    this.column = column;
    this.directory = directory;
  }

  get size(): number {
    return this.directory.counts.reduce((sum, count) => sum + count, this.directory.unkeyed);
  }

  get unkeyed(): { readonly size: number } {
    return { size: this.directory.unkeyed };
  }

  /** The keys of all pages that the range touches. */
  estimate(range: KeyRange): number {
    const { from, to } = pagesOf(this.directory, this.boundsOf(range));
    return this.directory.counts.subarray(from, to).reduce((sum, count) => sum + count, 0);
  }

  boundsOf(range: KeyRange): KeyBounds {
    const { length } = this.definition.fields;
    return {
      low: boundOf(length, range.from, range.fromOpen),
      high: boundOf(length, range.to, !range.toOpen),
    };
  }
}
