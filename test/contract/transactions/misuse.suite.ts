import { describe, expect, test } from 'vitest';
import type { DocumentCollection, SyncTransaction, Transaction } from '../../../src/index.ts';
import type { ClientFixture, Library } from '../client-fixture.ts';
import { rejection, thrown } from '../outcomes.ts';

interface Thing {
  n: number;
}

type Things = DocumentCollection<Thing>;
type Sync = InstanceType<Library['Database']>;

/**
 * Wrong use of transactions rejects with what is wrong, changes nothing, and leaves everything
 * usable.
 */
export function transactionMisuseSuite(fixture: ClientFixture): void {
  describe('misuse of transactions', () => {
    const one = async () => {
      const things = fixture.documents<Thing>();
      await things.insert({ _id: 'a', n: 1 });
      return { things, db: fixture.db };
    };

    test('tx after the end is refused, and changes nothing', async () => {
      const { things, db } = await one();
      const kept = await db.transaction(async (tx) => ({ ...{ tx }, own: tx(things) }));
      const calls = [() => kept.own.patch('a', { n: 2 }), () => kept.tx(things).get('a')];
      for (const call of calls) {
        const error = await rejection(call());
        expect(error).toMatchObject({ name: 'TransactionError', code: 'transaction_over' });
        expect(error.message).toContain('await');
      }
      expect((await things.get('a'))?.n).toBe(1);
    });

    test('tx after a throw is refused', async () => {
      const { things, db } = await one();
      let late: Promise<unknown> = Promise.resolve();
      await rejection(
        db.transaction(async (tx) => {
          const own = tx(things);
          late = new Promise((resolve) => setTimeout(resolve)).then(() => own.patch('a', { n: 2 }));
          late.catch(() => undefined);
          throw new Error('no');
        }),
      );
      expect((await rejection(late)).code).toBe('transaction_over');
      expect((await things.get('a'))?.n).toBe(1);
    });

    test('a function that returns before a call has ended is refused, and changes nothing', async () => {
      const { things, db } = await one();
      const values = fixture.keyValues();
      const many = Array.from({ length: 500 }, (_, n) => ({ n, text: 'x'.repeat(4000) }));
      const calls: [(tx: Transaction) => Promise<unknown>, string, string][] = [
        [(tx) => tx(things).patch('a', { n: 2 }), 'patch("a")', things.name],
        [(tx) => tx(things).get('a'), 'get("a")', things.name],
        [(tx) => tx(things).insertMany(many), 'insertMany()', things.name],
        // Also one that will fail: it is not known yet.
        [(tx) => tx(things).insert({ _id: 'a', n: 1 }), 'insert()', things.name],
        [(tx) => tx(values).set(['a', 1], 2), 'set(["a",1])', values.name],
      ];
      for (const [call, named, place] of calls) {
        const failing = db.transaction(async (tx) => {
          await tx(things).insert({ n: 9 });
          void call(tx);
          return 'too early';
        });
        const error = await rejection(failing);
        expect(error).toMatchObject({
          name: 'TransactionError',
          code: 'transaction_misused',
          place,
        });
        expect(error.message).toContain(named);
        expect(error.message).toContain('Await');
      }
      expect(await things.filter({})).toMatchObject([{ _id: 'a', n: 1 }]);
      expect(await values.count()).toBe(0);
    });

    test.each([undefined, null, 'things', {}])('tx(%o) is refused', async (wrong) => {
      const { db } = await one();
      const failing = db.transaction(async (tx) => tx(wrong as never));
      expect(await rejection(failing)).toMatchObject({ code: 'transaction_misused', place: 'tx' });
    });

    test('a collection of another client is refused by name', async () => {
      const { things } = await one();
      const other = fixture.kind.make(`other ${Math.random()}`);
      const failing = other.transaction((tx) => tx(things).patch('a', { n: 2 }));
      expect(await rejection(failing)).toMatchObject({
        code: 'transaction_misused',
        place: things.name,
      });
      await other.close();
      expect((await things.get('a'))?.n).toBe(1);
    });

    test.each([
      [{ retries: -1 }, 'retries'],
      [{ retries: 1.5 }, 'retries'],
      [{ durable: 'yes' }, 'durable'],
      [{ signal: {} }, 'signal'],
      [{ retry: 3 }, 'retry'],
    ])('options %o are refused', async (options, place) => {
      const { db } = await one();
      let ran = false;
      const failing = db.transaction(() => {
        ran = true;
      }, options as never);
      expect(await rejection(failing)).toMatchObject({ name: 'OptionError' });
      expect((await rejection(failing)).place).toContain(place);
      expect(ran).toBe(false);
    });

    test('what is no function is refused', async () => {
      const { db } = await one();
      const error = await rejection(db.transaction(undefined as never));
      expect(error).toMatchObject({ code: 'value_unsupported', place: 'run' });
    });

    test('a signal ends it, also while the function waits for ever', async () => {
      const { things, db } = await one();
      const before = AbortSignal.abort(new Error('early'));
      const never = db.transaction((tx) => tx(things).patch('a', { n: 9 }), { signal: before });
      expect((await rejection(never)).message).toBe('early');

      const controller = new AbortController();
      const reason = new Error('enough');
      const failing = db.transaction(
        async (tx) => {
          await tx(things).patch('a', { n: 2 });
          controller.abort(reason);
          await new Promise(() => undefined);
        },
        { signal: controller.signal },
      );
      expect(await rejection(failing)).toBe(reason);
      expect((await things.get('a'))?.n).toBe(1);
    });

    test('close() rejects an open transaction, though its function never returns', async () => {
      const { things, db } = await one();
      let inside: () => void = () => undefined;
      const isInside = new Promise<void>((resolve) => {
        inside = resolve;
      });
      const failing = db.transaction(async (tx) => {
        await tx(things).patch('a', { n: 2 });
        inside();
        await new Promise(() => undefined);
      });
      await isInside;
      const [error] = await Promise.all([rejection(failing), db.close()]);
      expect(error.code).toBe('closed');
      expect((await rejection(db.transaction(() => undefined))).code).toBe('closed');
      await fixture.reopen();
      expect((await fixture.documents<Thing>().get('a'))?.n).toBe(1);
    });

    test('a collection that is dropped meanwhile fails it', async () => {
      const { db } = await one();
      const others = fixture.documents<Thing>({ name: 'others' });
      const dropped = fixture.documents<Thing>({ name: 'dropped', activate_drop_method: true });
      const failing = db.transaction(async (tx) => {
        await tx(others).insert({ n: 1 });
        await tx(dropped).insert({ n: 1 });
        await dropped.Drop();
      });
      expect((await rejection(failing)).code).toBe('collection_dropped');
      expect(await others.count()).toBe(0);
    });

    test('a refused change names its place, and the transaction goes on', async () => {
      const { things, db } = await one();
      await db.transaction(async (tx) => {
        const own = tx(things);
        const refused: [() => Promise<unknown>, string][] = [
          [() => own.patch('a', { n: 2, $inc: { n: 1 } } as never), 'update_invalid'],
          [() => own.patch('a', { $increase: { n: 1 } } as never), 'update_invalid'],
          [() => own.patch('a', { $push: { n: 1 } } as never), 'kind_mismatch'],
          [() => own.patchMany({}, { n: 1, 'n.x': 1 } as never), 'paths_conflict'],
          [() => own.filter({ $near: 1 } as never), 'operator_unknown'],
          [() => own.insert({ n: (() => 1) as never }), 'value_unsupported'],
          [() => own.get(5 as never), 'id_invalid'],
        ];
        for (const [call, code] of refused) {
          const error = await rejection(call());
          expect(error.code).toBe(code);
          expect(error.place).not.toBe(undefined);
        }
        await own.patch('a', { n: 3 });
      });
      expect(await things.filter({})).toMatchObject([{ n: 3 }]);
    });

    if (!fixture.caching || fixture.kind.engine !== 'thread' || !('transactionSync' in fixture.db))
      return;

    describe('without promises', () => {
      const sync = async () => {
        const { things } = await one();
        await things.ready;
        const db = fixture.db as Sync;
        return { things, db };
      };

      test('an async function is refused, and changes nothing', async () => {
        const { things, db } = await sync();
        const error = thrown(() =>
          db.transactionSync((async (tx: SyncTransaction) => {
            tx(things).patch('a', { n: 2 });
            await Promise.resolve();
            tx(things).patch('a', { n: 3 });
          }) as never),
        );
        expect(error.code).toBe('transaction_misused');
        expect(things.sync.get('a')?.n).toBe(1);
      });

      test('a collection that is not in memory is refused', async () => {
        const { db } = await sync();
        const cold = fixture.documents({ name: 'cold', caching: false });
        const error = thrown(() => db.transactionSync((tx) => tx(cold).count()));
        expect(error).toMatchObject({ code: 'sync_unavailable', place: cold.name });
        const early = fixture.documents({ name: 'early' });
        const refused = [error, thrown(() => db.transactionSync((tx) => tx(early).count()))];
        expect(refused.map(({ message }) => message)).toEqual([
          `transactionSync cannot use collection "${cold.name}": construct it with caching: true. Or use db.transaction().`,
          `transactionSync cannot use collection "${early.name}": await collection.ready first. Or use db.transaction().`,
        ]);
      });

      test('a collection that a call is changing is refused', async () => {
        const { things, db } = await sync();
        const inserting = things.insertMany([{ n: 2 }, { n: 3 }]);
        const error = thrown(() => db.transactionSync((tx) => tx(things).count()));
        expect(error).toMatchObject({ code: 'sync_unavailable', place: things.name });
        expect(error.message).toContain(`transactionSync cannot use collection "${things.name}"`);
        expect(error.message).not.toContain('collection.sync');
        await inserting;
        expect(db.transactionSync((tx) => tx(things).count())).toBe(3);
      });

      const insideOf: Record<string, (things: Things, db: Sync) => void> = {
        'a call of the collection': (things) => things.sync.patch('a', { n: 5 }),
        'another transaction': (things, db) =>
          db.transactionSync((inner) => inner(things).patch('a', { n: 5 })),
      };
      test.each(Object.entries(insideOf))(
        '%s that changes what was read is refused',
        async (_, change) => {
          const { things, db } = await sync();
          const others = fixture.documents<Thing>({ name: 'others' });
          await others.ready;
          const failed = thrown(() =>
            db.transactionSync((tx) => {
              tx(things).get('a');
              tx(others).insert({ n: 1 });
              change(things, db);
              return 'lost';
            }),
          );
          expect(failed).toMatchObject({ name: 'TransactionError', code: 'transaction_conflict' });
          expect(failed.place).toBe(`${things.name}, ${others.name}`);
          expect(failed.message).toContain(`"${things.name}"`);
          expect([things.sync.get('a')?.n, others.sync.count()]).toEqual([5, 0]);
          // One that changes something else does not matter.
          db.transactionSync((tx) => {
            tx(others).insert({ n: 1 });
            change(things, db);
          });
          expect(others.sync.count()).toBe(1);
        },
      );

      test('tx after the end is refused', async () => {
        const { things, db } = await sync();
        const own = db.transactionSync((tx) => tx(things));
        const error = thrown(() => own.get('a'));
        expect(error.code).toBe('transaction_over');
        expect(error.message).not.toContain('await');
      });
    });
  });
}
