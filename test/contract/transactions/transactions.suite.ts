import { describe, expect, test } from 'vitest';
import type { ClientFixture } from '../client-fixture.ts';
import { LiveLog } from '../live-log.ts';
import { idsOf, rejection } from '../outcomes.ts';

interface Account {
  balance: number;
  city?: string;
}

/** db.transaction: one snapshot, own changes, all or none. */
export function transactionsSuite(fixture: ClientFixture): void {
  describe('transaction', () => {
    const bank = async () => {
      const accounts = fixture.documents<Account>({ name: 'accounts' });
      const entries = fixture.documents<{ of: string; amount: number }>({ name: 'entries' });
      await accounts.insertMany([
        { _id: 'ada', balance: 100 },
        { _id: 'bob', balance: 20, city: 'Oslo' },
      ]);
      return { accounts, entries, db: fixture.db };
    };

    test('changes several collections, and resolves with what the function returns', async () => {
      const { accounts, entries, db } = await bank();
      const left = await db.transaction(async (tx) => {
        const ada = await tx(accounts).get('ada');
        await tx(accounts).patch('ada', { $inc: { balance: -30 } });
        await tx(accounts).patch('bob', { $inc: { balance: 30 } });
        await tx(entries).insert({ of: 'ada', amount: -30 });
        await tx(entries).insert({ of: 'bob', amount: 30 });
        return (ada?.balance ?? 0) - 30;
      });
      expect(left).toBe(70);
      expect(await accounts.filter({})).toMatchObject([
        { _id: 'ada', balance: 70, _updated: true },
        { _id: 'bob', balance: 50, _updated: true },
      ]);
      expect(await entries.filter({})).toMatchObject([
        { of: 'ada', amount: -30 },
        { of: 'bob', amount: 30 },
      ]);
      await fixture.reopen();
      expect((await fixture.documents<Account>({ name: 'accounts' }).get('ada'))?.balance).toBe(70);
      expect(await fixture.documents({ name: 'entries' }).count()).toBe(2);
    });

    test('sees its own changes, which nobody else sees before the commit', async () => {
      const { accounts, db } = await bank();
      await db.transaction(async (tx) => {
        const own = tx(accounts);
        const eve = await own.insert({ balance: 5 });
        expect(await own.get(eve._id)).toEqual(eve);
        await own.patch('bob', { city: 'Rome' });
        await own.delete('ada');
        await own.update('bob', { balance: 21 });
        await own.upsert({ _id: 'cy', balance: 7 });
        await own.archive('cy');
        expect(await own.count()).toBe(2);
        expect(await own.get('ada')).toBe(undefined);
        expect(await own.has({ _id: 'ada' })).toBe(false);
        expect(idsOf(await own.filter({}))).toEqual(['bob', eve._id]);
        expect(idsOf(await own.filter({}, { archived: 'only' }))).toEqual(['cy']);
        expect(await own.find({ balance: 21 })).toEqual({
          ...{ _id: 'bob', _updated: true, _archived: false, balance: 21 },
        });
        expect(await own.getMany(['ada', 'cy'])).toMatchObject([undefined, { balance: 7 }]);
        expect(await accounts.filter({})).toMatchObject([
          { _id: 'ada', balance: 100, _updated: false },
          { _id: 'bob', balance: 20, city: 'Oslo', _updated: false },
        ]);
        expect(await own.unarchive('cy')).toBe(true);
      });
      expect(idsOf(await accounts.filter({}, { archived: true })).length).toBe(3);
      expect(await accounts.get('ada')).toBe(undefined);
      expect((await accounts.get('cy'))?._archived).toBe(false);
    });

    test('reads one snapshot of all collections, whatever is changed meanwhile', async () => {
      const { accounts, entries, db } = await bank();
      const seen = await db.transaction(async (tx) => {
        const before = await tx(accounts).count();
        await entries.insert({ of: 'ada', amount: 1 });
        await accounts.patch('ada', { balance: 1 });
        await accounts.delete('bob');
        await accounts.insert({ _id: 'cy', balance: 9 });
        const own = tx(accounts);
        return {
          before,
          after: await own.count(),
          entries: await tx(entries).filter({}),
          ada: (await own.get('ada'))?.balance,
          all: idsOf(await own.filter({}, { sort: { balance: 1 } })),
          rich: idsOf(await own.filter({ balance: { $gt: 50 } })),
        };
      });
      expect(seen).toEqual({
        ...{ before: 2, after: 2, entries: [], ada: 100 },
        ...{ all: ['bob', 'ada'], rich: ['ada'] },
      });
    });

    test('changes nothing if the function throws, and rejects with what it throws', async () => {
      const { accounts, entries, db } = await bank();
      const reason = new Error('no funds');
      const failed = db.transaction(async (tx) => {
        await tx(accounts).deleteMany({});
        await tx(entries).insert({ of: 'ada', amount: 1 });
        throw reason;
      });
      expect(await rejection(failed)).toBe(reason);
      expect(await accounts.count()).toBe(2);
      expect(await entries.count()).toBe(0);
    });

    test('goes on after a refused call that the function catches', async () => {
      const { accounts, db } = await bank();
      await db.transaction(async (tx) => {
        const refused = await rejection(tx(accounts).insert({ _id: 'ada', balance: 1 }));
        expect(refused.code).toBe('id_taken');
        expect(
          await rejection(tx(accounts).patch('bob', { $inc: { city: 1 } as never })),
        ).toBeInstanceOf(fixture.lib.CairnError);
        await tx(accounts).patch('ada', { balance: 7 });
      });
      expect(await accounts.get('ada')).toMatchObject({ balance: 7, _updated: true });
    });

    test('waits for what the function returns', async () => {
      const { accounts, db } = await bank();
      const made = await db.transaction((tx) => {
        const many = Array.from({ length: 500 }, (_, n) => ({
          balance: n,
          city: 'x'.repeat(4000),
        }));
        return tx(accounts).insertMany(many);
      });
      expect(made.length).toBe(500);
      expect(await accounts.count()).toBe(502);
    });

    test('has every method for documents', async () => {
      const { accounts, db } = await bank();
      await db.transaction(async (tx) => {
        const own = tx(accounts);
        const [cy] = await own.insertMany([{ _id: 'cy', balance: 1, city: 'Rome' }]);
        expect(cy).toMatchObject({ _id: 'cy', _updated: false });
        await own.upsertMany([
          { _id: 'cy', balance: 2 },
          { _id: 'dee', balance: 3 },
        ]);
        expect(await own.patchMany({ balance: { $lte: 3 } }, { $inc: { balance: 10 } })).toBe(2);
        expect(await own.deleteMany((account) => account.balance === 12)).toBe(1);
        expect(idsOf(await own.filter({}, { sort: { balance: -1 }, limit: 2 }))).toEqual([
          'ada',
          'bob',
        ]);
        expect(await own.filter({ city: 'Oslo' }, { select: ['city'] })).toMatchObject([
          { city: 'Oslo' },
        ]);
      });
      expect(await accounts.filter({}, { sort: { _id: 1 } })).toMatchObject([
        { _id: 'ada', balance: 100 },
        { _id: 'bob', balance: 20 },
        { _id: 'dee', balance: 13 },
      ]);
    });

    test('keeps the order of insertion', async () => {
      const { accounts, db } = await bank();
      await db.transaction(async (tx) => {
        await tx(accounts).insert({ _id: 'late', balance: 1 });
        await accounts.insert({ _id: 'early', balance: 1 });
        await tx(accounts).delete('ada');
        await tx(accounts).insert({ _id: 'ada', balance: 2 });
      });
      expect(idsOf(await accounts.filter({}))).toEqual(['bob', 'early', 'late', 'ada']);
    });

    test('emits once to live queries', async () => {
      const { accounts, db } = await bank();
      const log = new LiveLog(accounts.live({}));
      await log.until(({ length }) => length === 2);
      await db.transaction(async (tx) => {
        await tx(accounts).patch('ada', { $inc: { balance: -10 } });
        await tx(accounts).patch('bob', { $inc: { balance: 10 } });
        await tx(accounts).insert({ balance: 0 });
      });
      await log.until(({ length }) => length === 3);
      await accounts.insert({ balance: 1 });
      await log.until(({ length }) => length === 4);
      log.stop();
      const shown = log.snapshots.flatMap(({ status, data }) => (status === 'ready' ? [data] : []));
      const sums = shown.map((data) => data.reduce((sum, { balance }) => sum + balance, 0));
      expect(shown.map(({ length }) => length)).toEqual([2, 3, 4]);
      expect(sums).toEqual([120, 120, 121]);
    });

    test('is seen at once in the live queries of all its collections', async () => {
      const { accounts, entries, db } = await bank();
      const balances = accounts.live({});
      const made = entries.live({});
      await Promise.all([balances.ready, made.ready]);
      const sums: number[] = [];
      const add = () => {
        const all = [...(balances.getSnapshot().data ?? []), ...(made.getSnapshot().data ?? [])];
        sums.push(all.reduce((sum, one) => sum + ('balance' in one ? one.balance : one.amount), 0));
      };
      const stops = [balances.subscribe(add), made.subscribe(add)];
      for (let run = 1; run <= 3; run++) {
        await db.transaction(async (tx) => {
          await tx(accounts).patch('ada', { $inc: { balance: -10 } });
          await tx(entries).insert({ of: 'ada', amount: 10 });
        });
      }
      for (const stop of stops) stop();
      // Each query tells of each commit, and perhaps that it has begun anew.
      expect(sums.length).toBeGreaterThanOrEqual(6);
      expect(new Set(sums)).toEqual(new Set([120]));
    });

    test('runs once where only others have changed what it did not read', async () => {
      const { accounts, entries, db } = await bank();
      let runs = 0;
      await db.transaction(async (tx) => {
        runs++;
        await tx(accounts).get('ada');
        await tx(accounts).filter({ city: 'Oslo' });
        await accounts.insert({ _id: 'cy', balance: 9, city: 'Rome' });
        await accounts.patch('cy', { balance: 10 });
        await entries.insert({ of: 'cy', amount: 1 });
        await tx(accounts).patch('ada', { balance: 1 });
      });
      expect(runs).toBe(1);
      expect((await accounts.get('ada'))?.balance).toBe(1);
    });
  });
}
