import { expect, test } from 'vitest';
import type { DocumentCollection, IndexOption } from '../../src/index.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

/** More than are read in one slice of a build. */
const MANY = 1200;

interface Note {
  text: string;
  at?: number[];
  more?: string;
}

type Notes = DocumentCollection<Note>;

const INDEXES: IndexOption[] = [
  { text: ['text'] },
  { vector: 'at', dimensions: 2, metric: 'euclidean' },
];

const WORDS = ['heavy', 'water', 'atom', 'hydrogen'];

function open(id: number, browser: Browser, indexes: readonly IndexOption[] = INDEXES) {
  const tab = new Tab(id, browser);
  const notes = new tab.db.Collection<Note>({
    ...{ name: 'notes', type: 'DOCUMENT_BASED', indexes: [...indexes] },
    ...{ save_timeout: 100, caching: id % 2 === 0 },
  });
  notes.ready.catch(() => undefined);
  return { tab, notes };
}

/** Compares all searches with a look at all documents. */
async function check(world: World, notes: Notes, label: unknown): Promise<void> {
  const all = await world.hearInTurns(notes.filter({}));
  for (const word of WORDS) {
    const hits = await world.hearInTurns(notes.search(word, { limit: 1000 }));
    const right = all.filter(({ text }) => text.split(' ').includes(word));
    const ids = (found: readonly { readonly _id: string }[]) => found.map(({ _id }) => _id).sort();
    expect([label, word, ids(hits.map(({ document }) => document))]).toEqual([
      ...[label, word, ids(right.slice(0, 1000))],
    ]);
  }
  const { length } = await world.hearInTurns(notes.nearest([0, 0], { k: 1000 }));
  expect([label, length]).toEqual([label, Math.min(1000, all.filter(({ at }) => at).length)]);
}

test('every leader finds the words of what was acknowledged', async () => {
  for (const seed of seedsOf(12)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const { random } = world;
    const textOf = () => [0, 1, 2].map(() => random.pick(WORDS)).join(' ');
    let leader = open(0, browser);
    await world.hearInTurns(leader.tab.db.ready);
    for (let round = 1; round <= 5; round++) {
      const follower = open(round, browser);
      const { notes } = follower;
      for (let n = 0; n < 6; n++)
        await world.hearInTurns(
          notes.insert({ _id: `${round} ${n}`, text: textOf(), at: [n, round] }),
        );
      await world.hearInTurns(notes.patch(`${round} 0`, { text: textOf() }));
      await world.hearInTurns(notes.delete(`${round} 1`));
      if (round > 1) await world.hearInTurns(notes.patch(`${round - 1} 3`, { text: textOf() }));
      if (random.chance(0.5)) await check(world, notes, [seed, round, 'before']);
      if (random.chance(0.5)) await world.hearInTurns(leader.notes.save());
      // A rest, in which a checkpoint is written, or a part of it.
      if (random.chance(0.5)) await world.runUntil(world.now + 2000 + random.between(0, 50));
      if (random.chance(0.5)) leader.tab.kill();
      else leader.tab.close();
      await check(world, notes, [seed, round, 'after']);
      leader = follower;
    }
  }
});

test('a leader that ends in the middle of a build leaves it to the next one', async () => {
  for (const seed of seedsOf(12)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const { random } = world;
    const textOf = () => [0, 1].map(() => random.pick(WORDS)).join(' ');
    const old = open(0, browser, []);
    await world.hearInTurns(old.tab.db.ready);
    const all = Array.from({ length: MANY }, (_, n) => ({ text: textOf(), at: [n, seed] }));
    await world.hearInTurns(old.notes.insertMany(all));
    await world.hearInTurns(old.notes.save());
    // The engine of the first tab builds what the others declare, and ends meanwhile.
    const next = open(1, browser);
    const waiting = next.notes.search('water', { limit: 1000 });
    waiting.catch(() => undefined);
    const changed = next.notes.insert({ text: 'water', at: [0, 0] });
    await world.runUntil(world.now + random.between(0, 40));
    if (random.chance(0.5)) old.tab.kill();
    else old.tab.close();
    await world.hearInTurns(changed);
    await world.hearInTurns(waiting);
    expect(await world.hearInTurns(next.notes.count())).toBe(MANY + 1);
    await check(world, next.notes, seed);
  }
});

/** Versions of an app, and the words that each of their indexes has. */
const VERSIONS: readonly (readonly [IndexOption, (note: Note) => string])[] = [
  [{ text: ['text'] }, ({ text }) => text],
  [{ text: { text: 3, more: 1 } }, ({ text, more = '' }) => `${text} ${more}`],
  [{ text: 'more' }, ({ more = '' }) => more],
  [{ text: 'text', stop_words: ['heavy'] }, ({ text }) => text.replaceAll('heavy', '')],
];

test('tabs that declare other text indexes find what their own ones have', async () => {
  for (const seed of seedsOf(6)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const { random } = world;
    const textOf = () => [0, 1].map(() => random.pick(WORDS)).join(' ');
    const enter = (id: number) => {
      const version = random.pick(VERSIONS);
      return { ...open(id, browser, [version[0], 'n']), version };
    };
    let tabs = [enter(0)];
    for (let round = 1; round <= 6; round++) {
      tabs.push(enter(round));
      for (const { notes } of tabs)
        await world.hearInTurns(
          notes.upsert({ _id: `d${random.between(0, 9)}`, text: textOf(), more: textOf() }),
        );
      if (random.chance(0.3)) await world.runUntil(world.now + 3000);
      if (tabs.length > 2) {
        const [first, ...rest] = tabs;
        if (random.chance(0.5)) first?.tab.kill();
        else first?.tab.close();
        tabs = rest;
      }
      for (const { notes, version } of tabs)
        for (const word of WORDS) {
          const hits = await world.hearInTurns(notes.search(word, { limit: 1000 }));
          const all = await world.hearInTurns(notes.filter({}));
          const right = all.filter((one) => version[1](one).split(' ').includes(word));
          const ids = (found: readonly { readonly _id: string }[]) =>
            found.map(({ _id }) => _id).sort();
          expect([seed, round, word, ids(hits.map(({ document }) => document))]).toEqual([
            ...[seed, round, word, ids(right)],
          ]);
        }
    }
  }
});
