import { afterEach, expect, test, vi } from 'vitest';
import { lateReads } from '../../src/engine/find/late-reads.ts';
import { LiveQueries } from '../../src/engine/live/live-queries.ts';
import type { RecordStore } from '../../src/engine/records/record-store.ts';
import { LiveNode } from '../../src/engine/relations/live/live-node.ts';
import { runRelated } from './related-run.ts';
import { firstFailure } from './run-seeds.ts';

afterEach(() => vi.restoreAllMocks());

const PATIENCE = 600_000;
/** Each of these is found within so many seeds. */
const SOON = 300;

test.each<[string, () => void]>([
  [
    'a read that sees its partners as they are by then',
    () => {
      const { takeInstant } = lateReads;
      vi.spyOn(lateReads, 'takeInstant').mockImplementation((snapshots) => {
        const instant = takeInstant(snapshots);
        let isOwn = true;
        const viewOf = (records: RecordStore) => {
          const view = isOwn ? instant.viewOf(records) : records;
          isOwn = false;
          return view;
        };
        return { viewOf, release: () => instant.release() };
      });
    },
  ],
  [
    'a live include that takes in one collection before the other',
    () => {
      const { update } = LiveNode.prototype;
      let updates = 0;
      vi.spyOn(LiveNode.prototype, 'update').mockImplementation(function (this: LiveNode, ...args) {
        if (!this.ask.link || ++updates % 3 > 0) update.apply(this, args);
      });
    },
  ],
  [
    'a live include that passes on nothing of its partners',
    () => vi.spyOn(LiveNode.prototype, 'passOn').mockImplementation(() => undefined),
  ],
  [
    'a document that stays with its former partners',
    () => {
      const { link } = LiveNode.prototype;
      const linked = new WeakMap<LiveNode, Set<string>>();
      vi.spyOn(LiveNode.prototype, 'link').mockImplementation(function (
        this: LiveNode,
        owner,
        values,
      ) {
        const known = linked.get(this) ?? new Set();
        linked.set(this, known);
        if (!known.has(owner) || values.length === 0) link.call(this, owner, values);
        known.add(owner);
      });
    },
  ],
  [
    'a live pipeline that does not watch what it looks up',
    () => vi.spyOn(LiveQueries.prototype, 'watch').mockReturnValue(() => undefined),
  ],
])('%s is found out', { timeout: PATIENCE }, async (_, breakIt) => {
  breakIt();
  expect(await firstFailure(runRelated, { seeds: SOON })).toBeDefined();
});
