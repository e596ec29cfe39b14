import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import type { DatabaseClient } from '../../src/page/client/database-client.ts';
import { type UndoHistory, undo } from '../../src/undo/index.ts';
import { simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

afterEach(() => void vi.restoreAllMocks());

const MOMENTS = 61;

interface Shape {
  mine: number;
  theirs: number;
}

const open = ({ db }: Tab) => new db.Collection<Shape>({ name: 'shapes', type: 'DOCUMENT_BASED' });

/** `made`, or the code of the error. @param mayLose Whether only its answer may be lost. */
async function made(call: Promise<unknown>, mayLose = false): Promise<string> {
  try {
    await call;
    return 'made';
  } catch (error) {
    const { code } = error as { code?: unknown };
    return mayLose && code === 'answer_lost' ? 'made' : String(code ?? error);
  }
}

/** Two tabs change a shape; one takes its changes back while something happens to the leader. */
async function undoInTabs(seed: number, happen: (leader: Tab) => void) {
  const world = new World(seed);
  const browser = simulateBrowser(world);
  // What a transaction waits for before it runs again.
  vi.spyOn(systemClock, 'after').mockImplementation((ms, call) => world.after(ms, undefined, call));
  const leader = new Tab(0, browser);
  const first = open(leader);
  await world.hear(first.insert({ _id: 'a', mine: 0, theirs: 0 }));
  await world.hear(leader.db.save());
  const [own, other] = [new Tab(1, browser), new Tab(2, browser)];
  const [shapes, theirs] = [open(own), open(other)];
  await world.hear(Promise.all([shapes.ready, theirs.ready]));
  const history: UndoHistory = undo(own.db as unknown as DatabaseClient, { collections: [shapes] });
  for (const mine of [1, 2, 3]) await world.hear(shapes.patch('a', { mine }));
  const calls = Promise.all([
    ...[history.undo(), history.undo(), history.redo(), history.undo()].map((call) => made(call)),
    ...Array.from({ length: 5 }, () => made(theirs.patch('a', { $inc: { theirs: 1 } }), true)),
  ]);
  await world.runUntil(world.now + (seed % MOMENTS) / 8);
  happen(leader);
  const outcomes = await world.hear(calls, 60_000);
  const found = await world.hear(shapes.get('a'), 10_000);
  const labels = [history.can_undo, history.can_redo];
  await world.hear(history.redo(), 10_000);
  const redone = await world.hear(theirs.get('a'), 10_000);
  return { outcomes, found, labels, redone };
}

test.each<[string, (leader: Tab) => void]>([
  ['ends', (leader) => leader.kill()],
  ['is closed', (leader) => leader.close()],
  ['is frozen', (leader) => leader.freeze(8000)],
  ['rests in the back/forward cache', (leader) => leader.rest(8000)],
])('what a tab takes back is taken back once, whenever their leader %s', async (_, happen) => {
  for (const seed of seedsOf(60)) {
    const { outcomes, found, labels, redone } = await undoInTabs(seed, happen);
    expect([seed, ...outcomes]).toEqual([seed, ...Array(9).fill('made')]);
    expect([seed, found]).toMatchObject([seed, { mine: 1, theirs: 5 }]);
    expect(labels).toEqual([true, true]);
    expect([seed, redone]).toMatchObject([seed, { mine: 2, theirs: 5 }]);
  }
});
