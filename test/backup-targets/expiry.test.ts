import { expect, test } from 'vitest';
import { restoreFrom } from '../../src/backup-targets/index.ts';
import { backUpIn, newDatabase, newEnvironment, rowsFrom } from './device.ts';
import { MemoryTarget } from './memory-target.ts';

const DAY = 86_400_000;

test('backups expire a day after their days, the two newest never; their parts go with them', async () => {
  const target = new MemoryTarget();
  const { db, rows } = newDatabase();
  const environment = newEnvironment();
  const remote = backUpIn(environment, db, target, { retention_days: 3 });
  const ages: number[][] = [];
  for (let day = 0; day < 8; day++) {
    await rows.deleteMany({});
    await rows.insertMany(rowsFrom(day * 1000, 400));
    await remote.run();
    const now = environment.clock.now();
    ages.push((await remote.list()).map(({ created_at }) => (now - Number(created_at)) / DAY));
    await environment.clock.advance(DAY);
  }
  expect(ages.at(-1)).toEqual([0, 1, 2, 3]);
  expect(ages[1]).toEqual([0, 1]);
  // Each of the four has content of its own.
  const each = target.paths('parts').length;
  expect(each).toBeLessThanOrEqual(4 * 4);
  // A long absence leaves the two newest.
  await environment.clock.advance(400 * DAY);
  await rows.insert({ _id: 'x', n: 1 });
  await remote.run();
  await environment.clock.advance(DAY);
  expect(await remote.run()).toMatchObject({ unchanged: true });
  expect(await remote.list()).toHaveLength(2);
  for (const { name } of await remote.list())
    expect(await remote.verify(name)).toMatchObject({ whole: true });
  await restoreFrom(target, { db });
  expect(await rows.count()).toBe(401);
});

test('those of another device stay, and so do those of a clock that was set back', async () => {
  const target = new MemoryTarget();
  const { db, rows } = newDatabase();
  const old = newEnvironment();
  await rows.insertMany(rowsFrom(0, 400));
  await backUpIn(old, db, target, { device: 'other', retention_days: 1 }).run();
  const environment = newEnvironment();
  const remote = backUpIn(environment, db, target, { device: 'mine', retention_days: 1 });
  for (let day = 0; day < 4; day++) {
    await environment.clock.advance(2 * DAY);
    await rows.patch('r0', { n: day });
    await remote.run();
  }
  expect((await remote.list()).filter(({ own }) => !own)).toHaveLength(1);
  environment.clock.jump(-100 * DAY);
  await rows.patch('r0', { n: 99 });
  await remote.run();
  // It is the newest nevertheless, and none of those from the future has expired.
  const own = (await remote.list()).filter((backup) => backup.own);
  expect(own).toHaveLength(4);
  expect(own[0]?.created_at).toEqual(new Date(environment.clock.now()));
  for (const { name } of await remote.list())
    expect(await remote.verify(name)).toMatchObject({ whole: true });
});

test('with -1 nothing expires', async () => {
  const target = new MemoryTarget();
  const { db, rows } = newDatabase();
  const environment = newEnvironment();
  const remote = backUpIn(environment, db, target, { retention_days: -1 });
  for (let year = 0; year < 4; year++) {
    await rows.insert({ n: year });
    await remote.run();
    await environment.clock.advance(365 * DAY);
  }
  expect(await remote.list()).toHaveLength(4);
});

test('a failure to remove expired backups is reported, and does not fail the backup', async () => {
  const target = new MemoryTarget();
  const { db, rows } = newDatabase();
  const environment = newEnvironment();
  const remote = backUpIn(environment, db, target, { retention_days: 1 });
  for (let day = 0; day < 4; day++) {
    await rows.insert({ n: day });
    if (day === 3)
      target.before = (method) => {
        if (method === 'delete') throw Object.assign(new Error('no'), { name: 'NotAllowedError' });
      };
    await environment.clock.advance(2 * DAY);
    if (day < 3) await remote.run();
  }
  const errors: unknown[] = [];
  remote.on('error', ({ error }) => errors.push(error));
  expect(await remote.run()).toMatchObject({ unchanged: false });
  expect(errors).toMatchObject([{ code: 'target_denied' }]);
});
