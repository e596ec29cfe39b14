import { describe, expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';
import { FakeClock } from '../engine/fake-clock.ts';
import { Random } from '../setup/random.ts';
import { type FaultyDriver, faultyDriver } from '../storage/faulty-driver.ts';
import { atRest, type Things } from './cut-world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TEN_YEARS = 3652 * DAY;

/** A local morning in any time zone. */
const MORNING = new Date(2026, 0, 1, 8).getTime();

const daily = { auto_create_backup: true, backup_retention_time: -1 };

interface Opened {
  readonly driver: FaultyDriver;
  readonly clock: FakeClock;
  readonly things: Things;
  close(): Promise<void>;
}

async function open(
  options: object,
  clock = new FakeClock(MORNING),
  driver = faultyDriver(memoryDriver()),
): Promise<Opened> {
  const { client } = openClient(driver, clock);
  const things = new client.Collection<any>({ name: 'things', type: 'DOCUMENT_BASED', ...options });
  await things.ready;
  await atRest(driver);
  return { driver, clock, things, close: () => client.close() };
}

const daysOf = async (things: Things): Promise<string[]> =>
  (await things.listBackups())
    .filter(({ automatic }) => automatic)
    .map(({ created_at }) => created_at.toDateString())
    .reverse();

const dayOf = (clock: FakeClock) => new Date(clock.now()).toDateString();

describe('auto_create_backup', () => {
  test('makes one backup for each day with changes, for a year', async () => {
    // Copied values would make the test six times as slow.
    const uncopied = faultyDriver(memoryDriver(), false, false);
    const { clock, things, driver } = await open(daily, new FakeClock(MORNING), uncopied);
    const changed: string[] = [];
    for (let day = 0; day < 365; day++) {
      // Days without a change, with one, and with several around the clock.
      const changes = [0, 1, 3, 7][day % 4] as number;
      for (let change = 0; change < changes; change++) {
        if (changed.at(-1) !== dayOf(clock)) changed.push(dayOf(clock));
        await things.insert({ day, change });
        await clock.advance(DAY / 7.5);
      }
      await clock.advance(DAY - changes * (DAY / 7.5));
      await atRest(driver);
    }
    expect(await daysOf(things)).toEqual(changed);
  });

  test('keeps the backup of a day where later changes cancel each other', async () => {
    for (let turns = 0; turns < 40; turns++) {
      const options = { ...daily, save_timeout: 3600, save_directly_after: 1000 };
      const { clock, things, driver, close } = await open(options);
      await things.insert({ _id: 'a' });
      await things.save();
      await clock.advance(15 * HOUR + 58 * 60_000);
      await atRest(driver);
      const made = await things.listBackups();
      expect(made).toMatchObject([{ documents: 1, label: 'daily' }]);
      await things.insert({ _id: 'b' });
      const checked = clock.advance(60_000);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await things.delete('b');
      await checked;
      await atRest(driver);
      const left = await things.listBackups();
      expect(left).toHaveLength(1);
      // The next change has the number that the inserted document would have had.
      await clock.advance(12 * HOUR);
      await things.insert({ _id: 'c' });
      await things.save();
      await clock.advance(DAY);
      await atRest(driver);
      expect((await things.listBackups())[0]).toMatchObject({ documents: 2 });
      await close();
    }
  });

  test('includes all changes of its day', async () => {
    const { clock, things, driver } = await open(daily);
    await things.insert({ _id: 'morning' });
    await clock.advance(2 * HOUR);
    await things.insert({ _id: 'noon' });
    await clock.advance(6 * HOUR);
    const [early] = await things.listBackups();
    expect(early).toMatchObject({ documents: 1, automatic: true, label: 'daily' });
    await clock.advance(DAY);
    await atRest(driver);
    expect(await things.listBackups()).toMatchObject([{ documents: 2, label: 'daily' }]);
  });

  test('backs up the changes of an earlier day when the collection opens, once', async () => {
    const driver = faultyDriver();
    let clock = new FakeClock(MORNING);
    const days: string[] = [];
    for (let day = 0; day < 30; day++) {
      for (let time = 0; time < 3; time++) {
        clock = new FakeClock(MORNING + day * DAY + time * HOUR);
        const { things, close } = await open(daily, clock, driver);
        if (day % 3 === 0) await things.insert({ day, time });
        await clock.advance(HOUR / 2);
        await close();
        if (time === 0 && day % 3 === 1) days.push(dayOf(clock));
        // Made at the next opening on the same day.
        if (time === 1 && day % 3 === 0) days.push(dayOf(clock));
      }
    }
    const { things } = await open({ backup_retention_time: -1 }, clock, driver);
    expect(await daysOf(things)).toEqual(days);
  });

  test('keeps the day of its changes when it is retried', async () => {
    const { clock, things, driver } = await open(daily);
    await things.insert({ _id: 'a' });
    await things.save();
    driver.inject({ call: 'write', when: 'before', times: 3 });
    await clock.advance(3 * HOUR);
    expect(await things.listBackups()).toEqual([]);
    await clock.advance(HOUR);
    expect(await things.listBackups()).toMatchObject([{ label: 'daily', documents: 1 }]);
    await things.insert({ _id: 'b' });
    await things.save();
    await clock.advance(23 * HOUR - HOUR / 2 - (clock.now() - MORNING));
    driver.inject({ call: 'write', when: 'before', times: 9 });
    await clock.advance(9 * HOUR);
    driver.heal();
    await clock.advance(HOUR);
    const [newest] = await things.listBackups();
    expect(newest).toMatchObject({ label: 'daily', documents: 2 });
  });

  test('makes none if it is off', async () => {
    const { clock, things } = await open({});
    await things.insert({});
    await clock.advance(3 * DAY);
    expect(await things.listBackups()).toEqual([]);
  });
});

describe('backup_retention_time', () => {
  const labels = async (things: Things) => (await things.listBackups()).map(({ label }) => label);

  test('removes expired backups every hour, except the last two', async () => {
    const { clock, things, driver } = await open({ backup_retention_time: 2 });
    for (let hour = 0; hour < 10; hour++) {
      await things.insert({ hour, pad: 'p'.repeat(1000) });
      await things.createBackup({ label: `${hour}` });
      await clock.advance(HOUR);
    }
    await clock.advance(38 * HOUR - 1);
    expect((await labels(things)).at(-1)).toBe('0');
    for (let hour = 1; hour < 9; hour++) {
      await clock.advance(HOUR);
      await atRest(driver);
      expect((await labels(things)).at(-1)).toBe(`${hour}`);
    }
    await clock.advance(30 * DAY);
    expect(await labels(things)).toEqual(['9', '8']);
    expect(await things.verify()).toMatchObject({ whole: true });
  });

  test('removes expired backups at opening', async () => {
    const { clock, things, driver, close } = await open({ backup_retention_time: 2 });
    for (let number = 0; number < 5; number++) await things.createBackup({ label: `${number}` });
    await close();
    clock.jump(2 * DAY - 1);
    const { things: second, close: closeSecond } = await open(
      { backup_retention_time: 2 },
      clock,
      driver,
    );
    expect(await labels(second)).toHaveLength(5);
    await closeSecond();
    clock.jump(1);
    const { things: third } = await open({ backup_retention_time: 2 }, clock, driver);
    expect(await labels(third)).toEqual(['4', '3']);
  });

  test('-1 removes nothing, and other values only expired backups', async () => {
    const { clock, things, driver, close } = await open({ backup_retention_time: -1 });
    for (let number = 0; number < 40; number++) {
      await things.createBackup();
      clock.jump(number % 2 ? -TEN_YEARS : 2 * TEN_YEARS);
      await clock.advance(2 * HOUR);
    }
    expect(await labels(things)).toHaveLength(40);
    await close();
    const { things: again } = await open({ backup_retention_time: -1 }, clock, driver);
    expect(await labels(again)).toHaveLength(40);
    expect((await again.listBackups()).every(({ expires_at }) => expires_at === undefined)).toBe(
      true,
    );
  });

  test.each([1, 2, 3, 4, 5])('a clock jump never removes the last two, seed %i', async (seed) => {
    const random = new Random(seed);
    const options = { auto_create_backup: seed % 2 === 0, backup_retention_time: 1 + (seed % 3) };
    let opened = await open(options);
    for (let step = 0; step < 60; step++) {
      const { clock, driver } = opened;
      const changes = random.below(3);
      for (let change = 0; change < changes; change++) await opened.things.insert({ step, change });
      if (random.below(3) === 0) await opened.things.createBackup();
      if (random.below(4) === 0) await clock.advance(random.below(40) * HOUR);
      await atRest(driver);
      const last = (await opened.things.listBackups()).slice(0, 2).map(({ name }) => name);
      clock.jump((random.chance(0.5) ? 1 : -1) * TEN_YEARS);
      if (random.chance(0.5)) {
        await opened.close();
        opened = await open(options, clock, driver);
      } else await clock.advance(HOUR);
      await atRest(driver);
      const names = (await opened.things.listBackups()).map(({ name }) => name);
      for (const name of last)
        expect([step, names]).toEqual([step, expect.arrayContaining([name])]);
    }
    expect(await opened.things.verify()).toMatchObject({ whole: true });
  });
});
