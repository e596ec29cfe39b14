import { expect, test } from 'vitest';
import type { RemoteBackups } from '../../src/backup-targets/index.ts';
import { FakeClock } from '../engine/fake-clock.ts';
import { backUpIn, newDatabase, newEnvironment, rowsFrom } from './device.ts';
import { MemoryTarget } from './memory-target.ts';

const HOUR = 3_600_000;

/** The backups made, once nothing is under way. */
async function made(remote: RemoteBackups, target: MemoryTarget): Promise<number> {
  await expect
    .poll(() => remote.status.next_run !== undefined && remote.status.state === 'idle')
    .toBe(true);
  return target.paths('backups').length;
}

function setUp(every: 'day' | number, memory = newEnvironment().memory) {
  const target = Object.assign(new MemoryTarget(), { id: 'memory:one' });
  const clock = new FakeClock(new Date(2026, 5, 1, 12).getTime());
  const environment = { ...newEnvironment(), clock, memory };
  const shop = newDatabase();
  return {
    ...shop,
    target,
    environment,
    begin: () => backUpIn(environment, shop.db, target, { every }),
  };
}

/** Lets the timers of the schedule come, one check after the other. */
async function pass(clock: FakeClock, remote: RemoteBackups, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    const before = remote.status.next_run;
    await clock.advance(HOUR);
    await expect
      .poll(
        () => remote.status.state === 'idle' && Number(remote.status.next_run) > clock.now() - 1,
      )
      .toBe(true);
    expect(remote.status.next_run).not.toBe(before);
  }
}

test("'day': one at once, then one on each day on which something changed", async () => {
  const { rows, target, environment, begin } = setUp('day');
  const { clock } = environment;
  await rows.insertMany(rowsFrom(0, 10));
  const remote = begin();
  const runs: boolean[] = [];
  remote.on('backup', ({ unchanged }) => runs.push(unchanged));
  await expect.poll(() => runs.length).toBe(1);
  await pass(clock, remote, 5);
  expect(await made(remote, target)).toBe(1);
  await rows.insert({ n: 1 });
  await rows.save();
  await pass(clock, remote, 6);
  expect(await made(remote, target)).toBe(1);
  await pass(clock, remote, 2);
  expect(await made(remote, target)).toBe(2);
  // Nothing has changed: the days pass without reading a document.
  await pass(clock, remote, 72);
  expect(await made(remote, target)).toBe(2);
  expect(runs).toEqual([false, false]);
});

test('seconds: after each interval, if something has changed', async () => {
  const { rows, target, environment, begin } = setUp(3600);
  const { clock } = environment;
  await rows.insert({ n: 0 });
  const remote = begin();
  await expect.poll(() => target.paths('backups').length).toBe(1);
  await made(remote, target);
  for (let hour = 1; hour < 4; hour++) {
    await rows.insert({ n: hour });
    await rows.save();
    await pass(clock, remote, 1);
    await expect.poll(() => target.paths('backups').length).toBe(hour + 1);
    await made(remote, target);
  }
});

test('a page that opens later remembers the last check, and a lost memory asks the target', async () => {
  const { rows, target, environment, begin, db } = setUp('day');
  await rows.insert({ n: 0 });
  const first = begin();
  await expect.poll(() => target.paths('backups').length).toBe(1);
  await made(first, target);
  first.stop();
  await rows.insert({ n: 1 });
  await rows.save();
  for (const memory of [environment.memory, newEnvironment().memory]) {
    const device = first.status.device;
    const again = backUpIn({ ...environment, memory }, db, target, { every: 'day', device });
    expect(await made(again, target)).toBe(1);
    again.stop();
  }
});

test('a failure is tried again, later and later, and then succeeds', async () => {
  const { rows, target, environment, begin } = setUp('day');
  const { clock } = environment;
  await rows.insert({ n: 0 });
  target.before = () => {
    throw Object.assign(new Error('no'), { name: 'NotAllowedError' });
  };
  const remote = begin();
  const errors: string[] = [];
  remote.on('error', ({ error }) => errors.push((error as { code?: string }).code ?? ''));
  await expect.poll(() => errors.length).toBe(1);
  const delays: number[] = [];
  for (let failure = 1; failure <= 8; failure++) {
    await expect.poll(() => Number(remote.status.next_run) > clock.now()).toBe(true);
    const delay = Number(remote.status.next_run) - clock.now();
    delays.push(delay / 60_000);
    if (failure === 8) target.before = () => undefined;
    await clock.advance(delay);
    if (failure < 8) await expect.poll(() => errors.length).toBe(failure + 1);
  }
  expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  await expect.poll(() => target.paths('backups').length).toBe(1);
  expect(new Set(errors)).toEqual(new Set(['target_denied']));
});

test('only the leader backs up, and the next leader goes on', async () => {
  const { rows, target, environment, db } = setUp('day');
  await rows.insert({ n: 0 });
  let leader = false;
  const listeners = new Set<(status: unknown) => void>();
  // A client of a tab that follows.
  const follower = new Proxy(db, {
    get(of, name) {
      if (name === 'status') return { ...of.status, leader };
      if (name === 'on')
        return (_: string, listener: (status: unknown) => void) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        };
      const value = Reflect.get(of, name, of);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
  const remote = backUpIn(environment, follower, target, { every: 'day' });
  await db.ready;
  await environment.clock.advance(48 * HOUR);
  expect(target.objects.size).toBe(0);
  expect(remote.status.next_run).toBeUndefined();
  leader = true;
  for (const listener of listeners) listener({ ...db.status, leader });
  await expect.poll(() => target.paths('backups').length).toBe(1);
  remote.stop();
  expect(listeners.size).toBe(0);
});

test('it stops with its database', async () => {
  const { rows, target, environment, begin, db } = setUp('day');
  await rows.insert({ n: 0 });
  const remote = begin();
  await made(remote, target);
  await db.close();
  expect(remote.status.state).toBe('stopped');
  expect(environment.clock.waiting).toBe(0);
});

test('an empty database on a new device is not backed up, until it holds something', async () => {
  const { rows, target, environment, begin, db } = setUp('day');
  const { clock } = environment;
  const old = newDatabase();
  await old.rows.insert({ n: 1 });
  const { name } = await backUpIn(newEnvironment(), old.db, target).run();
  const remote = begin();
  await pass(clock, remote, 3);
  await expect.poll(async () => (await remote.list())[0]?.name).toBe(name);
  expect(remote.status.last_error).toBeUndefined();
  await rows.insert({ n: 0 });
  await rows.save();
  await pass(clock, remote, 1);
  await expect.poll(() => target.paths('backups').length).toBe(2);
  // From then on, what is deleted here is deleted in the next backup too.
  await made(remote, target);
  await rows.deleteMany({});
  await rows.save();
  await pass(clock, remote, 24);
  await expect.poll(() => target.paths('backups').length).toBe(3);
  expect((await remote.list())[0]).toMatchObject({ own: true, documents: 0 });
  expect(await db.collections()).toHaveLength(1);
});
