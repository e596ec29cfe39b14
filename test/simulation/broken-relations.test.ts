import { lateReads } from '../../src/engine/find/late-reads.ts';
import { LiveQueries } from '../../src/engine/live/live-queries.ts';
import type { RecordStore } from '../../src/engine/records/record-store.ts';
import { LiveNode } from '../../src/engine/relations/live/live-node.ts';
import { change, findsBroken } from './broken.ts';
import { runRelated } from './related-run.ts';

const finds = findsBroken(runRelated);

finds('a read that sees its partners as they are by then is found out', () =>
  change(lateReads, 'takeInstant', (takeInstant, snapshots) => {
    const instant = takeInstant(snapshots);
    let isOwn = true;
    const viewOf = (records: RecordStore) => {
      const view = isOwn ? instant.viewOf(records) : records;
      isOwn = false;
      return view;
    };
    return { viewOf, release: () => instant.release() };
  }),
);

finds('a live include that takes in one collection before the other is found out', () => {
  let updates = 0;
  change(LiveNode.prototype, 'update', function (update, ...args) {
    if (!this.ask.link || ++updates % 3 > 0) update(...args);
  });
});

finds('a live include that passes on nothing of its partners is found out', () =>
  change(LiveNode.prototype, 'passOn', () => undefined),
);

finds('a document that stays with its former partners is found out', () => {
  const linked = new WeakMap<LiveNode, Set<string>>();
  change(LiveNode.prototype, 'link', function (link, owner, values) {
    const known = linked.get(this) ?? new Set();
    linked.set(this, known);
    if (!known.has(owner) || values.length === 0) link(owner, values);
    known.add(owner);
  });
});

finds('a live pipeline that does not watch what it looks up is found out', () =>
  change(LiveQueries.prototype, 'watch', () => () => undefined),
);
