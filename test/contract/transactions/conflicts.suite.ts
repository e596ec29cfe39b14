import { describe, expect, test } from 'vitest';
import type { DocumentCollection, TransactionDocuments } from '../../../src/index.ts';
import type { ClientFixture } from '../client-fixture.ts';
import { rejection } from '../outcomes.ts';

interface Seat {
  row: string;
  price: number;
  holder?: string;
}

type Seats = DocumentCollection<Seat>;
type Read = (seats: TransactionDocuments<Seat>) => Promise<unknown>;
type Change = (seats: Seats) => Promise<unknown>;

const reads: Record<string, Read> = {
  'get of the document': (seats) => seats.get('a'),
  'get of a missing document': (seats) => seats.get('new'),
  getMany: (seats) => seats.getMany(['b', 'a']),
  'filter by a field': (seats) => seats.filter({ row: 'A' }),
  'filter by an indexed field': (seats) => seats.filter({ price: { $gte: 10, $lt: 20 } }),
  'the cheapest': (seats) => seats.filter({}, { sort: { price: 1 }, limit: 1 }),
  'find by a field': (seats) => seats.find({ row: 'B' }),
  'has of nothing': (seats) => seats.has({ row: 'C' }),
  count: (seats) => seats.count({ row: 'A' }),
  'patchMany of nothing': (seats) => seats.patchMany({ row: 'C' }, { price: 1 }),
};

const changes: Record<string, Change> = {
  'patches the document': (seats) => seats.patch('a', { price: 11 }),
  'patches another row': (seats) => seats.patch('b', { price: 31 }),
  'inserts into row A': (seats) => seats.insert({ _id: 'new', row: 'A', price: 15 }),
  'inserts into row C': (seats) => seats.insert({ _id: 'new', row: 'C', price: 99 }),
  'deletes the document': (seats) => seats.delete('a'),
  'archives it': (seats) => seats.archive('a'),
};

/** Whether the read must be run again after the change; by hand. */
const conflicting: Record<string, readonly boolean[]> = {
  'get of the document': [true, false, false, false, true, true],
  'get of a missing document': [false, false, true, true, false, false],
  getMany: [true, true, false, false, true, true],
  'filter by a field': [true, false, true, false, true, true],
  'filter by an indexed field': [true, false, true, false, true, true],
  'the cheapest': [true, false, false, false, true, true],
  'find by a field': [false, true, false, false, false, false],
  'has of nothing': [false, false, false, true, false, false],
  count: [false, false, true, false, true, true],
  'patchMany of nothing': [false, false, false, true, false, false],
};

const cases = Object.entries(reads).flatMap(([reading, read]) =>
  Object.entries(changes).map(([changing, change], index) => ({
    ...{ reading, read, changing, change },
    conflicts: conflicting[reading]?.[index] as boolean,
  })),
);

/** A transaction runs again exactly when others have changed what it has read. */
export function transactionConflictsSuite(fixture: ClientFixture): void {
  describe('conflicts of transactions', () => {
    const theatre = async () => {
      const indexes = [{ fields: ['price'] }];
      const seats = fixture.documents<Seat>({ name: 'seats', indexes: indexes as never });
      const log = fixture.documents<{ run: number }>({ name: 'log' });
      await seats.insertMany([
        { _id: 'a', row: 'A', price: 10 },
        { _id: 'b', row: 'B', price: 30 },
        { _id: 'c', row: 'B', price: 40 },
      ]);
      return { seats, log, db: fixture.db };
    };

    test.each(cases)('$reading, while another call $changing: $conflicts', async (one) => {
      const { seats, log, db } = await theatre();
      let runs = 0;
      await db.transaction(async (tx) => {
        runs++;
        await one.read(tx(seats));
        if (runs === 1) await one.change(seats);
        await tx(log).insert({ run: runs });
      });
      expect(runs).toBe(one.conflicts ? 2 : 1);
      expect(await log.filter({})).toMatchObject([{ run: runs }]);
    });

    test('of those that write what all have read, the first is committed', async () => {
      const { seats, db } = await theatre();
      const holders = ['Ada', 'Bo', 'Cy', 'Dee'];
      let runs = 0;
      let haveRead: () => void = () => undefined;
      const allHaveRead = new Promise<void>((resolve) => {
        haveRead = resolve;
      });
      const book = (holder: string) =>
        db.transaction(async (tx) => {
          const free = await tx(seats).find({ holder: { $exists: false } }, { sort: { price: 1 } });
          if (++runs === holders.length) haveRead();
          await allHaveRead;
          if (!free) return 'none';
          await tx(seats).patch(free._id, { holder });
          return free._id;
        });
      const booked = await Promise.all(holders.map(book));
      expect(booked.toSorted()).toEqual(['a', 'b', 'c', 'none']);
      // At least one of the other three ran again each time.
      expect(runs).toBeGreaterThanOrEqual(4 + 3);
      expect(new Set((await seats.filter({})).map(({ holder }) => holder)).size).toBe(3);
    });

    test('fifty of one client change the same document, and none gives up', async () => {
      const { seats, db } = await theatre();
      let runs = 0;
      const raise = () =>
        db.transaction(async (tx) => {
          runs++;
          const seat = await tx(seats).get('a');
          // The others go on meanwhile.
          await new Promise((resolve) => setTimeout(resolve));
          await tx(seats).patch('a', { price: (seat?.price ?? 0) + 1 });
        });
      await Promise.all(Array.from({ length: 50 }, raise));
      expect((await seats.get('a'))?.price).toBe(60);
      // Twice each; where a run takes longer than it is waited for, a few more.
      expect(runs).toBeLessThan(100 + 25);
    });

    test('rejects after too many runs, and changes nothing', async () => {
      const { seats, log, db } = await theatre();
      let runs = 0;
      const failing = db.transaction(
        async (tx) => {
          const seat = await tx(seats).get('a');
          await seats.patch('a', { price: (seat?.price ?? 0) + 1 });
          await tx(log).insert({ run: ++runs });
        },
        { retries: 2 },
      );
      expect(await rejection(failing)).toMatchObject({
        name: 'TransactionError',
        code: 'transaction_conflict',
        message: expect.stringContaining('3 runs'),
      });
      expect(runs).toBe(3);
      expect(await log.count()).toBe(0);
    });

    test('names its collections, and what else may be the reason', async () => {
      const { seats, log, db } = await theatre();
      const conflicting = (retries: number) =>
        db.transaction(
          async (tx) => {
            await tx(seats).get('a');
            await seats.patch('a', { $inc: { price: 1 } });
            await tx(log).insert({ run: 1 });
          },
          { retries },
        );
      const once = await rejection(conflicting(0));
      expect(once.place).toBe(`${seats.name}, ${log.name}`);
      expect(once.message).toContain(`"${seats.name}" or "${log.name}" while it ran`);
      expect(once.message).toContain('use tx');
      expect((await rejection(conflicting(1))).message).toContain('2 runs');
    });

    test('runs again whatever the function throws after a conflict', async () => {
      const { seats, db } = await theatre();
      let runs = 0;
      await db.transaction(async (tx) => {
        runs++;
        await tx(seats).patch('a', { price: runs });
        if (runs === 1) {
          const file = await seats.exportBackup(await seats.createBackup());
          await seats.importBackup(file);
          await tx(seats)
            .get('b')
            .catch(() => {
              throw new Error('wrapped');
            });
        }
      });
      expect(runs).toBe(2);
      expect((await seats.get('a'))?.price).toBe(2);
    });

    test('runs again when a file replaces a collection between its last call and the commit', async () => {
      const { seats, log, db } = await theatre();
      const file = await seats.exportBackup(await seats.createBackup());
      let runs = 0;
      await db.transaction(async (tx) => {
        await tx(seats).get('a');
        await tx(log).insert({ run: ++runs });
        if (runs === 1) await seats.importBackup(file);
      });
      expect(runs).toBe(2);
      expect(await log.filter({})).toMatchObject([{ run: 2 }]);
    });

    test('refuses what a unique index refuses, as of the commit', async () => {
      const codes = fixture.documents<{ code: string }>({
        name: 'codes',
        indexes: [{ fields: ['code'], unique: true }] as never,
      });
      const { log, db } = await theatre();
      await codes.insertMany([
        { _id: 'a', code: 'x' },
        { _id: 'b', code: 'y' },
      ]);
      const twice = db.transaction(async (tx) => {
        await tx(log).insert({ run: 1 });
        await tx(codes).insert({ code: 'x' });
      });
      expect((await rejection(twice)).code).toBe('unique_violation');
      expect(await log.count()).toBe(0);
      // In between both have the same code.
      await db.transaction(async (tx) => {
        await tx(codes).patch('a', { code: 'y' });
        await tx(codes).patch('b', { code: 'x' });
      });
      expect(await codes.filter({ code: 'x' })).toMatchObject([{ _id: 'b' }]);
      await db.transaction(async (tx) => {
        await tx(codes).delete('b');
        await tx(codes).insert({ _id: 'c', code: 'x' });
      });
      expect(await codes.filter({ code: 'x' })).toMatchObject([{ _id: 'c' }]);
    });
  });
}
