import { describe, expect, test } from 'vitest';
import { compileCriteria } from '../../../src/query/criteria/compile-criteria.ts';
import '../../setup/rare-operators.ts';

/** A description, criteria, and documents that match and do not match. */
export interface MatchRow {
  readonly shows: string;
  readonly criteria: object;
  readonly matches?: readonly object[];
  readonly misses?: readonly object[];
}

/** One test for each row; it tries every document. */
export function matchTable(subject: string, rows: readonly MatchRow[]): void {
  describe(subject, () => {
    for (const { shows, criteria, matches = [], misses = [] } of rows) {
      test(shows, () => {
        const compiled = compileCriteria(criteria);
        expect(matches.filter((document) => !compiled.test(document))).toEqual([]);
        expect(misses.filter((document) => compiled.test(document))).toEqual([]);
        expect(matches.length + misses.length).toBeGreaterThan(0);
      });
    }
  });
}
