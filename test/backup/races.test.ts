import { describe, expect, test } from 'vitest';
import type { DatabaseClient } from '../../src/index.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';
import { FakeClock } from '../engine/fake-clock.ts';
import { type FaultyDriver, faultyDriver } from '../storage/faulty-driver.ts';
import { atRest, soleBackup, type Things } from './cut-world.ts';
import { readStored } from './stored.ts';

const DAY = 86_400_000;
const YEARS = 3650 * DAY;

const documents = {
  name: 'things',
  type: 'DOCUMENT_BASED',
  activate_drop_method: true,
} as const;

interface Opened {
  readonly driver: FaultyDriver;
  readonly clock: FakeClock;
  readonly client: DatabaseClient;
  readonly things: Things;
  readonly reopen: () => Things;
}

/** @param slow Whether each storage call takes a turn of the event loop. */
function openSlowly(slow: boolean, options: object): Opened {
  const driver = faultyDriver(memoryDriver(), slow);
  const { client, clock } = openClient(driver);
  const open = (at: DatabaseClient) => new at.Collection<any>({ ...documents, ...options });
  const reopen = () => open(openClient(driver, new FakeClock(clock.now())).client);
  return { driver, clock, client, things: open(client), reopen };
}

const idsIn = async (things: Things) => (await things.filter({})).map(({ _id }) => _id).join('');
const pad = 'p'.repeat(70_000);

/** An act that begins with the n-th storage call of another. */
class Interruption {
  readonly #at: number;
  #happening: Promise<unknown> | undefined;

  constructor(at: number) {
    this.#at = at;
  }

  get happened(): boolean {
    return this.#happening !== undefined;
  }

  /** Calls are counted from now on. */
  prepare(driver: FaultyDriver, act: () => Promise<unknown>): void {
    driver.interrupt(this.#at, () => {
      this.#happening = act();
    });
  }

  async ended(driver: FaultyDriver): Promise<void> {
    driver.heal();
    await this.#happening;
    await atRest(driver);
  }
}

/** Interrupts an act at each of its calls, in turn. */
async function atEachCall(round: (interruption: Interruption) => Promise<void>): Promise<void> {
  for (let at = 0; ; at++) {
    const interruption = new Interruption(at);
    try {
      await round(interruption);
    } catch (error) {
      throw new Error(`at call ${at}`, { cause: error });
    }
    if (!interruption.happened) {
      expect(at).toBeGreaterThan(1);
      return;
    }
  }
}

describe.each([
  { caching: true, slow: true },
  { caching: true, slow: false },
  { caching: false, slow: true },
  { caching: false, slow: false },
])('any two concurrent acts, %o', ({ caching, slow }) => {
  const opened = (options = {}) => openSlowly(slow, { caching, ...options });

  test('a backup that expires during its restore is restored', () =>
    atEachCall(async (interruption) => {
      const { driver, clock, client, things, reopen } = opened();
      const name = await soleBackup(things);
      interruption.prepare(driver, () => {
        clock.jump(YEARS);
        return clock.advance(DAY / 12);
      });
      await things.loadBackup(name);
      await interruption.ended(driver);
      expect(await idsIn(things)).toBe('a');
      expect(await things.verify()).toMatchObject({ whole: true });
      await client.close();
      const again = reopen();
      expect(await again.get('a')).toMatchObject({ pad });
      expect(await again.verify()).toMatchObject({ whole: true });
    }));

  test('a backup that is loaded in place of unsaved changes as it expires is restored, or gone', () =>
    atEachCall(async (interruption) => {
      const { driver, clock, client, things } = opened();
      const name = await soleBackup(things);
      let outcome = '';
      interruption.prepare(driver, async () => {
        void things.insert({ _id: 'b' });
        outcome = await things.loadBackup(name).then(
          () => 'a',
          ({ code }) => code,
        );
      });
      clock.jump(YEARS);
      await clock.advance(DAY / 12);
      await atRest(driver);
      await interruption.ended(driver);
      if (interruption.happened) expect(['a', 'backup_unknown']).toContain(outcome);
      if (interruption.happened) expect(await idsIn(things)).toBe(outcome === 'a' ? 'a' : 'b');
      expect(await things.verify()).toMatchObject({ whole: true });
      await client.close();
    }));

  test('a drop cancels the backup at opening', () =>
    atEachCall(async (interruption) => {
      const { driver, clock, client, things } = opened();
      await things.insert({ _id: 'a' });
      await client.close();
      const second = openClient(driver, clock).client;
      const options = { ...documents, caching, auto_create_backup: true };
      let dropping: Promise<unknown> | undefined;
      let again: Things | undefined;
      const drop = (dropped: Things) => {
        dropping = dropped.Drop();
        again = new second.Collection<any>(options);
        return again.insert({ _id: 'c' });
      };
      const opening = new second.Collection<any>(options);
      interruption.prepare(driver, () => {
        void opening.insert({ _id: 'b' });
        return drop(opening);
      });
      await opening.ready;
      await atRest(driver);
      await interruption.ended(driver);
      if (!dropping) await drop(opening);
      expect(await dropping).toBe(true);
      await atRest(driver);
      expect(await idsIn(again!)).toBe('c');
      await second.close();
      const last = new (openClient(driver, clock).client.Collection)<any>({
        ...documents,
        caching,
      });
      expect(await idsIn(last)).toBe('c');
      expect(await last.verify()).toMatchObject({ whole: true });
    }));

  test('a drop during a backup leaves nothing behind', () =>
    atEachCall(async (interruption) => {
      const { driver, clock, client, things } = opened({ auto_create_backup: true });
      await things.insert({ _id: 'a' });
      await things.save();
      clock.jump(DAY);
      interruption.prepare(driver, () => clock.advance(DAY / 20));
      void things.insert({ _id: 'b' });
      await things.Drop();
      const again = new client.Collection<any>({ ...documents, caching });
      await again.insert({ _id: 'c' });
      await again.save();
      await interruption.ended(driver);
      expect(await idsIn(again)).toBe('c');
      expect(await again.listBackups()).toEqual([]);
      await client.close();
      const reopened = openClient(driver, clock).client;
      const last = new reopened.Collection<any>({ ...documents, caching });
      expect(await idsIn(last)).toBe('c');
      expect(await last.verify()).toMatchObject({ whole: true });
    }));

  test('indexes are written after the compaction that follows their backup', async () => {
    const { driver, client, things, reopen } = opened();
    for (let n = 0; n < 4; n++) {
      await things.insert({ _id: `d${n}`, n, pad: 'p'.repeat(30_000) });
      // The last one triggers a compaction, which fails and is retried at opening.
      if (n === 3) driver.inject({ call: 'write', when: 'before', after: 1 });
      await things.save();
    }
    await client.close();
    const { client: indexed } = openClient(driver);
    const again = new indexed.Collection<any>({ ...documents, caching, indexes: ['n'] });
    expect(await again.count({ n: { $gte: 1 } })).toBe(3);
    await atRest(driver);
    expect((await readStored(driver)).segments).toHaveLength(5);
    expect(driver.writesAtOnce).toBe(1);
    await indexed.close();
    expect(await reopen().verify()).toMatchObject({ whole: true });
  });

  test('verify() finds no defects while backups are made and removed', () =>
    atEachCall(async (interruption) => {
      const { driver, client, things } = opened();
      const name = await soleBackup(things);
      const [newest] = await things.listBackups();
      interruption.prepare(driver, async () => {
        await things.deleteBackup(name);
        await things.insertMany([{ pad }, { pad }]);
        await things.createBackup();
      });
      const { whole, problems, backups } = await things.verify();
      expect([whole, problems]).toEqual([true, []]);
      expect(backups.filter((each) => !each.whole)).toEqual([]);
      expect(backups.map(({ name }) => name)).toContain(newest?.name);
      await interruption.ended(driver);
      await client.close();
    }));
});
