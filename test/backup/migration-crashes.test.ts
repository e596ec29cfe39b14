import { describe, expect, test } from 'vitest';
import type {
  DatabaseClient,
  DocumentCollection,
  DocumentCollectionOptions,
} from '../../src/index.ts';
import { openClient } from '../engine/engine-client.ts';
import { FakeClock } from '../engine/fake-clock.ts';
import { cachings } from '../setup/cachings.ts';
import { type FaultyDriver, faultyDriver } from '../storage/faulty-driver.ts';
import { atRest, forEachCut } from './cut-world.ts';
import { driverWith, readStored, type Stored, segmentsOf } from './stored.ts';

type Things = DocumentCollection<any>;
type Options = Partial<DocumentCollectionOptions>;

const START = 1_700_000_000_000;
const OLD: Options = { indexes: ['n'] };
const NEW: Options = {
  indexes: [{ fields: 'm', unique: true }],
  version: 3,
  migrate: {
    2: ({ n, ...one }) => (n === 3 ? undefined : { ...one, m: n * 10 }),
    3: ({ m, ...one }) => ({ ...one, m: m + 1 }),
  },
};

function enter(driver: FaultyDriver, caching: boolean, options: Options, now = START) {
  const { client } = openClient(driver, new FakeClock(now));
  const open = (given: Options): Things =>
    new client.Collection<any>({
      ...{ name: 'things', type: 'DOCUMENT_BASED', caching, backup_retention_time: -1 },
      ...given,
    });
  return { client, things: open(options), open };
}

/** The documents as text, or the code of the error. */
async function contents(things: Things): Promise<string> {
  try {
    const all = await things.filter({}, { archived: true });
    return all
      .map(({ _id, _archived, text = '', ...own }) => {
        const { n, m } = own as { n?: number; m?: number };
        return `${_id}${_archived ? '*' : ''}:${n === undefined ? `m${m}` : `n${n}`}+${text.length}`;
      })
      .join(' ');
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** A collection of several segments and writes, with an older backup. */
async function makeStored(): Promise<Stored> {
  const driver = faultyDriver();
  const { client, things } = enter(driver, false, OLD);
  await things.insertMany(
    Array.from({ length: 12 }, (_, n) => ({ _id: `d${n}`, n, text: 'x'.repeat(n * 5000) })),
  );
  await things.createBackup({ label: 'mine' });
  await things.archive('d2');
  await things.delete('d5');
  await things.patch('d6', { n: 60 });
  // In one write of staged segments they do not fit.
  await things.insertMany(
    Array.from({ length: 14 }, (_, n) => ({ _id: `e${n}`, n: 100 + n, text: 'y'.repeat(90_000) })),
  );
  await client.close();
  return readStored(driver);
}

const fresh = async (stored: Stored) => faultyDriver(await driverWith(stored));

/** A migration, as an app meets it: the collection is opened and read. */
async function migrate(driver: FaultyDriver, caching: boolean) {
  const world = enter(driver, caching, NEW);
  const found = await contents(world.things);
  await atRest(driver);
  return { ...world, found };
}

async function close(client: DatabaseClient, driver: FaultyDriver): Promise<void> {
  await client.close();
  await atRest(driver);
}

describe.each(cachings(true))(
  'a migration that is cut at any storage call, caching %s',
  (caching) => {
    async function prepare() {
      const stored = await makeStored();
      const before = await contents(enter(await fresh(stored), caching, OLD).things);
      const driver = await fresh(stored);
      const { client, found: after } = await migrate(driver, caching);
      const calls = [...driver.log];
      await client.close();
      expect(calls.filter((call) => call === 'write').length).toBeGreaterThan(2);
      expect(after).toContain('d1:m11');
      expect(after).not.toContain('d3');
      return { stored, before, after, calls };
    }

    const checked = new Set<string>();

    /**
     * Whatever is stored: older code finds what it knows or is told; newer code finds the migrated
     * documents.
     */
    async function checkStored(
      driver: FaultyDriver,
      { before, after }: { before: string; after: string },
    ): Promise<void> {
      const left = await readStored(driver);
      // Many cuts leave the same.
      const digest = JSON.stringify([left.collections, left.segments.map(([key]) => key)]);
      if (checked.has(digest)) return;
      checked.add(digest);
      const isLive = left.collections.some(([, { version }]) => version === 3);
      const old = enter(await fresh(left), caching, OLD);
      expect(await contents(old.things)).toBe(isLive ? 'schema_newer' : before);
      const backups = await old.things.listBackups();
      expect(backups.map(({ label }) => label)).toEqual([
        ...(isLive ? ['before a migration'] : []),
        'mine',
      ]);
      if (isLive) {
        await old.things.loadBackup(backups[0]?.name as string);
        expect(await contents(old.things)).toBe(before);
      }
      await old.client.close();
      const again = await fresh(left);
      const { client, things, found } = await migrate(again, caching);
      expect(found).toBe(after);
      expect(await things.verify()).toMatchObject({ whole: true, problems: [] });
      await things.insert({ _id: 'sweep', m: 5 });
      await things.save();
      await close(client, again);
      const { there, named } = segmentsOf(await readStored(again));
      expect(there).toEqual(named);
    }

    test('by a crash starts again, or is done', async () => {
      const prepared = await prepare();
      const ends = new Set<boolean>();
      await forEachCut(prepared, true, async (cut) => {
        const driver = await fresh(prepared.stored);
        driver.cut(cut);
        await migrate(driver, caching);
        expect(driver.wasCut).toBe(true);
        const { collections } = await readStored(driver);
        ends.add(collections.some(([, { version }]) => version === 3));
        await checkStored(driver, prepared);
      });
      expect(ends).toEqual(new Set([true, false]));
    });

    test('by a failure of storage rejects, and the next call tries again', async () => {
      const prepared = await prepare();
      await forEachCut(prepared, false, async (cut) => {
        const driver = await fresh(prepared.stored);
        driver.cut(cut);
        const { client, things, open, found } = await migrate(driver, caching);
        expect(driver.wasCut).toBe(true);
        expect([prepared.after, 'storage_lost', 'storage_failed']).toContain(found);
        let next = await contents(things);
        // A collection that could not be opened is constructed again.
        if (next !== prepared.after) next = await contents(open(NEW));
        expect(next).toBe(prepared.after);
        await close(client, driver);
        await checkStored(driver, prepared);
      });
    });

    test('while older code writes: no acknowledged change is lost', async () => {
      const { stored, calls } = await prepare();
      await forEachCut({ calls }, false, async ({ after }) => {
        const driver = await fresh(stored);
        const { client, things: old, open } = enter(driver, caching, OLD);
        await old.ready;
        const outcomes: Promise<unknown>[] = [];
        let changes = 0;
        const change = () => {
          const _id = `new${++changes}`;
          outcomes.push(
            old.insert({ _id, n: 1000 + changes }).then(
              () => _id,
              () => undefined,
            ),
          );
        };
        driver.interrupt(after, change);
        const things = open(NEW);
        change();
        const opened = things.ready;
        change();
        await opened;
        change();
        const made = (await Promise.all(outcomes)).filter((id) => id !== undefined);
        const found = (await things.filter({ m: { $gt: 10_000 } })).map(({ _id }) => _id);
        expect(new Set(found)).toEqual(new Set(made));
        await close(client, driver);
      });
    });
  },
);
