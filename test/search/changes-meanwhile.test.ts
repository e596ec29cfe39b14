import { expect, test } from 'vitest';
import type { IndexOption } from '../../src/index.ts';
import { BestFirst } from '../../src/query/text/text-matches.ts';
import { TextRuns } from '../../src/query/text/text-runs.ts';
import { type Checkpoint, directoryKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';
import { settled } from '../engine/fake-clock.ts';
import { atOnce, matched } from './matched.ts';

interface Note {
  text: string;
  more?: string;
}

test('a search that has begun takes the versions that were there', () => {
  const runs = new TextRuns<{ rank: number; name: string }>(1);
  const loaded = [0, 1].map((rank) => ({ rank, name: `loaded ${rank}` }));
  runs.load(loaded, Float64Array.of(0, 1), ['water', 'water']);
  for (const rank of [2, 3]) runs.add({ rank, name: `added ${rank}` }, 'water');
  for (const _slice of runs.building());
  const settings = { runs, weights: [1], synonyms: new Map() };
  const terms = [{ words: ['water'], use: 'word', isPrefix: false }] as const;
  const search = () => {
    const { scores } = matched(settings, terms, { mode: 'all', fuzzy: false });
    return atOnce(BestFirst.of(scores, undefined));
  };
  const best = search();
  const gone = loaded[0] as { rank: number; name: string };
  runs.remove(gone);
  runs.remove({ rank: 2, name: 'added 2' });
  runs.add({ rank: 2, name: 'newer 2' }, 'water');
  const names = [0, 1, 2, 3].map(() => {
    const { run, row } = best.take() as NonNullable<ReturnType<typeof best.take>>;
    return run.recordAt(row).name;
  });
  expect(names.sort()).toEqual(['added 2', 'added 3', 'loaded 0', 'loaded 1']);
  expect(search().length).toBe(3);
});

test('documents that wait for the first search get postings in slices, and may change between', () => {
  const runs = new TextRuns<{ rank: number; word: string }>(1);
  const model = new Map<number, { rank: number; word: string }>();
  const add = (rank: number, word: string) => {
    const record = { rank, word };
    model.set(rank, record);
    runs.add(record, word);
  };
  const remove = (rank: number) => {
    runs.remove(model.get(rank) as { rank: number; word: string });
    model.delete(rank);
  };
  const first = Array.from({ length: 300 }, (_, rank) => ({ rank, word: 'first' }));
  for (const record of first) model.set(record.rank, record);
  runs.load(
    first,
    Float64Array.from(first.keys()),
    first.map(({ word }) => word),
  );
  for (let rank = 300; rank < 6000; rank++) add(rank, `w${rank % 7}`);
  let slices = 0;
  for (const _slice of runs.building()) {
    const rank = slices++ * 97;
    // Another version, the same words anew, and none.
    remove(rank);
    add(rank, 'second');
    const same = { ...(model.get(rank + 1) as { rank: number; word: string }) };
    model.set(rank + 1, same);
    runs.replace(same);
    remove(rank + 2);
  }
  expect(slices).toBeGreaterThan(20);
  const settings = { runs, weights: [1], synonyms: new Map() };
  for (const word of ['first', 'second', 'w0', 'w3']) {
    const terms = [{ words: [word], use: 'word', isPrefix: false }] as const;
    const { scores } = matched(settings, terms, { mode: 'all', fuzzy: false });
    const found = scores.flatMap(({ run, rows }) => rows.map((row) => run.recordAt(row)));
    const right = [...model.values()].filter((record) => record.word === word);
    const byRank = (a: { rank: number }, b: { rank: number }) => a.rank - b.rank;
    expect(found.toSorted(byRank)).toEqual(right.toSorted(byRank));
  }
  expect(runs.size).toBe(model.size);
});

test('documents that come while stored postings are taken replace them', () => {
  const make = (count: number) => Array.from({ length: count }, (_, rank) => ({ rank }));
  const load = (runs: TextRuns<{ rank: number }>, count: number) => {
    const entries = make(count);
    const ranks = Float64Array.from(entries, ({ rank }) => rank);
    runs.load(
      entries,
      ranks,
      entries.map(() => 'water'),
    );
    return entries;
  };
  const [before, runs] = [new TextRuns<{ rank: number }>(1), new TextRuns<{ rank: number }>(1)];
  load(before, 9000);
  for (const _slice of before.building());
  const [{ postings, ranks }] = before.current() as [ReturnType<typeof before.current>[0]];
  const slots = Uint32Array.from(ranks.keys());
  let entries = load(runs, 9000);
  const adopting = runs.adopt({ postings, ranks, slots }, (place) => {
    const { rank } = entries[place] as { rank: number };
    return rank;
  });
  expect(adopting.next().done).toBe(false);
  entries = load(runs, 2);
  for (const _slice of adopting);
  for (const _slice of runs.building());
  expect(runs.current().map(({ postings: { alive } }) => alive)).toEqual([2]);
});

test('indexes with other weights share a column, also in the checkpoint', async () => {
  const driver = memoryDriver();
  const options = { name: 'notes', type: 'DOCUMENT_BASED', caching: false } as const;
  const open = () => {
    const { client, clock } = openClient(driver, undefined, 1);
    const declare = (weight: number, other: IndexOption) =>
      new client.Collection<Note>({
        ...options,
        indexes: [{ text: { text: 1, more: weight } }, other],
      });
    const one = declare(1, 'text');
    const other = declare(5, 'more');
    return { client, clock, one, other };
  };
  const first = open();
  await first.one.insert({ _id: 'a', text: 'heavy heavy heavy', more: 'water' });
  await first.one.insert({ _id: 'b', text: 'water', more: 'heavy' });
  await first.one.save();
  await first.clock.advance(2000);
  for (let turn = 0; turn < 100; turn++) await settled();
  await first.client.close();
  const key = directoryKey('notes');
  const storage = await driver.open('test', { damaged: () => undefined });
  const [{ indexes }] = (await storage.getMany('bodies', [key])) as [Checkpoint];
  const parts = Object.values(indexes).map(({ part }) => part);
  expect(new Set(parts).size).toBe(3);
  const again = open();
  const ids = async (notes: typeof again.one) =>
    (await notes.search('heavy')).map(({ document }) => document._id);
  expect(await Promise.all([ids(again.one), ids(again.other)])).toEqual([
    ['a', 'b'],
    ['b', 'a'],
  ]);
  expect(await again.one.filter({ more: 'heavy' })).toMatchObject([{ _id: 'b' }]);
  await again.client.close();
});
