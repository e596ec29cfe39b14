import { expect, test } from 'vitest';
import type { DocumentCollection, LiveOptions } from '../../src/index.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { changeThroughFailovers } from './failovers.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

interface Task {
  n: number;
}

type Tasks = DocumentCollection<Task>;

const VIEWS: readonly (readonly [object, LiveOptions<Task>])[] = [
  [{}, {}],
  [{ n: { $gte: 5 } }, {}],
  [{}, { sort: { n: -1 }, limit: 3 }],
];

function open(id: number, browser: Browser) {
  const tab = new Tab(id, browser);
  const tasks = new tab.db.Collection<Task>({
    ...{ name: 'tasks', type: 'DOCUMENT_BASED', indexes: ['n'] },
    ...{ save_timeout: 100, caching: id % 2 === 0 },
  });
  tasks.ready.catch(() => undefined);
  return { tab, tasks };
}

/** Holds what has entered and not left, and notes each call that cannot be. */
function follow(tasks: Tasks, [criteria, options]: (typeof VIEWS)[number]) {
  const held = new Map<string, object>();
  const faults: unknown[] = [];
  let isBegun = false;
  const fault = (...said: unknown[]) => void faults.push(said);
  tasks.watch(
    criteria,
    {
      enter(task, isInitial) {
        if (held.has(task._id)) fault('entered twice', task);
        if (isBegun && isInitial) fault('initial again', task);
        held.set(task._id, task);
      },
      update(task, before) {
        if (held.get(before._id) !== before) fault('updated from', before);
        if (task.n === before.n && task._updated === before._updated) fault('told twice', task);
        held.set(task._id, task);
      },
      exit(task) {
        if (held.get(task._id) !== task) fault('left, and was not there', task);
        held.delete(task._id);
      },
      error: (error) => fault(error),
    },
    options,
  );
  return {
    held,
    faults,
    begin: () => {
      isBegun = true;
    },
  };
}

test('a watch hears of each change once, whatever happens to the leader', async () => {
  for (const seed of seedsOf(40)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const { random } = world;
    const before = [open(0, browser), open(1, browser), open(2, browser)];
    await world.hearInTurns(Promise.all(before.map(({ tasks }) => tasks.ready)));
    const watcher = open(3, browser);
    await world.hearInTurns(
      watcher.tasks.insertMany([1, 4, 7, 9].map((n) => ({ _id: `t${n}`, n }))),
    );
    const views = VIEWS.map((view) => follow(watcher.tasks, view));
    await world.runUntil(world.now + 500);
    for (const { begin } of views) begin();
    await changeThroughFailovers(world, {
      ...{ tabs: before, watcher, pauseMs: 20, open: (id) => open(id, browser) },
      change: ({ tasks }) => {
        const _id = `t${random.below(10)}`;
        const n = random.below(10);
        const call = random.pick<() => Promise<unknown>>([
          () => tasks.upsert({ _id, n }),
          () => tasks.patch(_id, { n }),
          () => tasks.delete(_id),
          () => tasks.patchMany({ n: { $lt: n } }, { $inc: { n: 1 } }),
          () => tasks.archive(_id),
        ]);
        return call();
      },
    });
    for (const [at, { held, faults }] of views.entries()) {
      const [criteria, options] = VIEWS[at] as (typeof VIEWS)[number];
      const right = await world.hearInTurns(watcher.tasks.filter(criteria, options));
      const sorted = (all: Iterable<object>) => [...all].map((one) => JSON.stringify(one)).sort();
      expect([seed, at, faults]).toEqual([seed, at, []]);
      expect([seed, at, sorted(held.values())]).toEqual([seed, at, sorted(right)]);
    }
  }
});
