import { expect, test } from 'vitest';
import type { LiveQuery, SearchHits } from '../../src/index.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { changeThroughFailovers } from './failovers.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

interface Note {
  text: string;
  n: number;
}

const WORDS = ['heavy', 'water', 'atom', 'hydrogen'];

const QUERIES = [
  ['wat', {}],
  ['heavy atom', { mode: 'any', limit: 3, highlight: true }],
  ['water', { criteria: { n: { $lte: 4 } } }],
  ['"heavy water" -atom', { archived: true }],
] as const;

function open(id: number, browser: Browser) {
  const tab = new Tab(id, browser);
  const notes = new tab.db.Collection<Note>({
    ...{ name: 'notes', type: 'DOCUMENT_BASED', indexes: ['n', { text: 'text' }] },
    ...{ save_timeout: 100, caching: id % 2 === 0 },
  });
  notes.ready.catch(() => undefined);
  return { tab, notes };
}

/** What there is to see of hits: scores depend on all documents. */
const seen = (hits: SearchHits<Note, never, undefined> | undefined) =>
  hits?.map(({ document, matches }) => ({ document, matches }));

test('live hits are those of a fresh search, whatever happens to the leader', async () => {
  for (const seed of seedsOf(12)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const { random } = world;
    const before = [open(0, browser), open(1, browser), open(2, browser)];
    await world.hearInTurns(Promise.all(before.map(({ notes }) => notes.ready)));
    const watcher = open(3, browser);
    const textOf = () => [0, 1, 2].map(() => random.pick(WORDS)).join(' ');
    const made = [1, 4, 7, 9].map((n) => ({ _id: `t${n}`, text: textOf(), n }));
    await world.hearInTurns(watcher.notes.insertMany(made));
    const lives = QUERIES.map(([typed, options]) => watcher.notes.liveSearch(typed, options));
    const errors: unknown[] = [];
    for (const live of lives) live.subscribe(({ error }) => error && errors.push(error));
    await changeThroughFailovers(world, {
      ...{ tabs: before, watcher, pauseMs: 120, open: (id) => open(id, browser) },
      change: ({ notes }) => {
        const _id = `t${random.below(10)}`;
        const [n, text] = [random.below(10), textOf()];
        const call = random.pick<() => Promise<unknown>>([
          () => notes.upsert({ _id, text, n }),
          () => notes.patch(_id, { text }),
          () => notes.patch(_id, { n }),
          () => notes.delete(_id),
          () => notes.patchMany({ n: { $lt: n } }, { $set: { text } }),
          () => notes.archive(_id),
        ]);
        return call();
      },
    });
    expect([seed, errors]).toEqual([seed, []]);
    for (const [at, [typed, options]] of QUERIES.entries()) {
      const right = await world.hearInTurns(watcher.notes.search(typed, options));
      const live = lives[at] as LiveQuery<SearchHits<Note, never, undefined>>;
      expect([seed, typed, seen(live.getSnapshot().data)]).toEqual([seed, typed, seen(right)]);
    }
  }
});
