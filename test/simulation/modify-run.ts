import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const CALLS = 12;
/** Something happens to the leader at one of so many moments. */
const MOMENTS = 61;

const open = ({ db }: Tab) => ({
  notes: new db.Collection<{ n: number }>({ name: 'notes', type: 'DOCUMENT_BASED' }),
  values: new db.Collection<number>({ name: 'values', type: 'KEY_VALUE_BASED' }),
});

/**
 * How many calls have made their change: those that say so, and those whose answer alone was lost.
 */
async function count(calls: readonly Promise<unknown>[], problems: unknown[]): Promise<number> {
  const results = await Promise.allSettled(calls);
  const isMade = (result: PromiseSettledResult<unknown>) =>
    result.status === 'fulfilled' || result.reason.code === 'answer_lost';
  for (const result of results) if (!isMade(result)) problems.push(result);
  return results.filter(isMade).length;
}

/**
 * Two tabs modify the same document and value; something happens to the leader in the middle.
 *
 * @returns how many calls have made their change, to the document and to the value, and what these
 *   are now.
 */
export async function modifyInTabs(seed: number, happen: (leader: Tab) => void) {
  const world = new World(seed);
  const browser = simulateBrowser(world);
  const leader = new Tab(0, browser);
  const first = open(leader);
  await world.hear(first.notes.insert({ _id: 'a', n: 0 }));
  await world.hear(leader.db.save());
  const tabs = [1, 2].map((id) => open(new Tab(id, browser)));
  const ready = tabs.flatMap(({ notes, values }) => [notes.ready, values.ready]);
  await world.hear(Promise.all(ready));
  const problems: unknown[] = [];
  const each = <T>(call: (tab: (typeof tabs)[number]) => T): T[] =>
    tabs.flatMap((tab) => Array.from({ length: CALLS }, () => call(tab)));
  const counts = Promise.all([
    count(
      each(({ notes }) => notes.modify('a', async ({ n }) => ({ n: n + 1 }))),
      problems,
    ),
    count(
      each(({ values }) => values.modify<number>('n', async (n = 0) => n + 1)),
      problems,
    ),
  ]);
  await world.runUntil(world.now + (seed % MOMENTS) / 8);
  happen(leader);
  const made = await world.hear(counts, 60_000);
  const [{ notes, values }] = tabs as [(typeof tabs)[number]];
  const found = await world.hear(Promise.all([notes.get('a'), values.get<number>('n')]), 10_000);
  return { problems, made, found: [found[0]?.n, found[1]] };
}
