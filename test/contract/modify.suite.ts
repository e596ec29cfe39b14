import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { EventLog, rejection } from './outcomes.ts';

interface Thing {
  n: number;
  at?: Date;
  list?: unknown[];
}

/** modify: a document becomes what a function makes of it. */
export function modifySuite(fixture: ClientFixture): void {
  describe('modify', () => {
    const thing = async () => {
      const things = fixture.documents<Thing>();
      await things.insert({ _id: 'a', n: 1 });
      return things;
    };

    test('stores what the function returns, which may be async', async () => {
      const things = await thing();
      const at = new Date(5);
      const stored = await things.modify('a', ({ n }) => ({ n: n + 1, at }));
      expect(stored).toEqual({ _id: 'a', _updated: true, _archived: false, n: 2, at });
      expect(await things.get('a')).toEqual(stored);
      const later = await things.modify('a', async (found) => {
        await Promise.resolve();
        return { ...found, n: found.n * 10 };
      });
      expect(later).toEqual({ ...stored, n: 20 });
      await fixture.reopen();
      expect(await fixture.documents().get('a')).toEqual(later);
    });

    test('replaces: a field that is not returned is gone, managed ones are ignored', async () => {
      const things = await thing();
      const given = { _id: 'other', _archived: true, _updated: false, n: 5 };
      expect(await things.modify('a', () => given)).toEqual({
        _id: 'a',
        _updated: true,
        _archived: false,
        n: 5,
      });
      await things.modify('a', () => ({ at: new Date(1) }) as never);
      expect(Object.keys((await things.get('a')) as object)).not.toContain('n');
      expect(await things.count()).toBe(1);
    });

    test('gives the function a copy, managed fields included', async () => {
      const things = fixture.documents<Thing, '_created_at'>({ indicate_created_at: true });
      const inserted = await things.insert({ _id: 'a', n: 1, list: [{ deep: 1 }] });
      let seen: unknown;
      const unchanged = await things.modify('a', (found) => {
        seen = structuredClone(found);
        (found.list as { deep: number }[])[0] = { deep: 2 };
        found.n = 9;
        return undefined;
      });
      expect(seen).toEqual(inserted);
      expect(await things.get('a')).toEqual(inserted);
      expect(unchanged).toEqual(inserted);
    });

    test('returning undefined changes nothing and tells nothing', async () => {
      const things = await thing();
      const before = await things.get('a');
      const log = new EventLog(things, 'change');
      expect(await things.modify('a', () => undefined)).toEqual(before);
      expect(await things.modify('a', async () => undefined)).toEqual(before);
      await things.insert({ _id: 'last', n: 0 });
      await log.until((events) => events.length > 0);
      expect(log.events.flatMap(({ changes }) => changes.map(({ id }) => id))).toEqual(['last']);
    });

    test('changes an archived document, and none with an unknown id', async () => {
      const things = await thing();
      await things.archive('a');
      expect(await things.modify('a', ({ n }) => ({ n: n + 1 }))).toMatchObject({
        _archived: true,
        n: 2,
      });
      let runs = 0;
      const made = await things.modify('nobody', () => {
        runs++;
        return { n: 1 };
      });
      expect([made, runs]).toEqual([undefined, 0]);
    });

    test('rejects with what the function throws, and changes nothing', async () => {
      const things = await thing();
      const before = await things.get('a');
      const reason = new RangeError('no');
      const throwing = things.modify('a', () => {
        throw reason;
      });
      expect(await rejection(throwing)).toBe(reason);
      expect(await rejection(things.modify('a', () => Promise.reject(reason)))).toBe(reason);
      expect(await things.get('a')).toEqual(before);
    });

    test('refuses what cannot be stored, and changes nothing', async () => {
      const things = await thing();
      const before = await things.get('a');
      for (const [made, code] of [
        [{ n: () => 1 }, 'value_unsupported'],
        [null, 'document_invalid'],
        [5, 'document_invalid'],
        [[], 'document_invalid'],
      ] as const) {
        const error = await rejection(things.modify('a', () => made as never));
        expect(error instanceof fixture.lib.ValueError).toBe(true);
        expect(error.code).toBe(code);
        expect(error.place?.startsWith('document')).toBe(true);
      }
      expect(await things.get('a')).toEqual(before);
    });

    test('respects unique indexes', async () => {
      const things = fixture.documents<Thing>({ indexes: [{ fields: 'n', unique: true }] });
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
      ]);
      const error = await rejection(things.modify('a', () => ({ n: 2 })));
      expect(error).toMatchObject({ code: 'unique_violation', place: 'n' });
      await things.modify('a', () => ({ n: 3 }));
      expect(await things.filter({ n: { $gte: 1 } })).toMatchObject([{ n: 3 }, { n: 2 }]);
    });

    test('runs the function again when the document was changed meanwhile', async () => {
      const things = await thing();
      const other = fixture.documents<Thing>();
      const seen: number[] = [];
      const stored = await things.modify('a', async (found) => {
        seen.push(found.n);
        if (seen.length === 1) await other.patch('a', { $inc: { n: 10 } });
        if (seen.length === 2) await other.archive('a');
        return { ...found, n: found.n + 1 };
      });
      expect(seen).toEqual([1, 11, 11]);
      expect(stored).toMatchObject({ n: 12, _archived: true });
      expect(await things.get('a')).toEqual(stored);
    });

    test('of other documents it takes no notice', async () => {
      const things = await thing();
      let runs = 0;
      await things.modify('a', async (found) => {
        runs++;
        await things.insert({ n: 7 });
        await things.save();
        return { ...found, n: 2 };
      });
      expect(runs).toBe(1);
      expect(await things.get('a')).toMatchObject({ n: 2 });
    });

    test('resolves with undefined when the document was deleted meanwhile', async () => {
      const things = await thing();
      let runs = 0;
      const made = await things.modify('a', async () => {
        runs++;
        await things.delete('a');
        return { n: 5 };
      });
      expect([made, runs]).toEqual([undefined, 1]);
      expect(await things.count()).toBe(0);
    });

    test('one that was deleted and inserted again is another document', async () => {
      const things = await thing();
      const seen: number[] = [];
      await things.modify('a', async ({ n }) => {
        seen.push(n);
        if (seen.length > 1) return { n: n + 1 };
        await things.delete('a');
        await things.insert({ _id: 'a', n: 50 });
        return { n: 2 };
      });
      expect(seen).toEqual([1, 50]);
      expect(await things.get('a')).toMatchObject({ n: 51 });
    });

    test('gives up after its retries, and changes nothing', async () => {
      const things = await thing();
      for (const retries of [0, 3]) {
        let runs = 0;
        const always = things.modify(
          'a',
          async () => {
            runs++;
            await things.patch('a', { $inc: { n: 1 } });
            return { n: -1 };
          },
          { retries },
        );
        const error = await rejection(always);
        expect(error instanceof fixture.lib.TransactionError).toBe(true);
        expect(error).toMatchObject({ code: 'transaction_conflict', place: 'a' });
        expect(error.message).toContain(retries ? '4 runs' : 'while the function ran');
        expect(runs).toBe(retries + 1);
      }
      expect(await things.get('a')).toMatchObject({ n: 6 });
    });

    test('a signal ends it, and nothing is changed', async () => {
      const things = await thing();
      const reason = new RangeError('enough');
      let runs = 0;
      const count = () => {
        runs++;
        return { n: 9 };
      };
      const aborted = { signal: AbortSignal.abort(reason) };
      expect(await rejection(things.modify('a', count, aborted))).toBe(reason);
      expect(runs).toBe(0);
      const controller = new AbortController();
      const { signal } = controller;
      // Though the function never ends.
      const waiting = things.modify('a', () => new Promise<never>(() => controller.abort(reason)), {
        signal,
      });
      expect(await rejection(waiting)).toBe(reason);
      const late = new AbortController();
      const abortsItself = async () => {
        late.abort(reason);
        return { n: 9 };
      };
      const ended = things.modify('a', abortsItself, { signal: late.signal });
      expect(await rejection(ended)).toBe(reason);
      expect(await things.get('a')).toMatchObject({ n: 1, _updated: false });
    });

    test('refuses bad arguments', async () => {
      const things = await thing();
      const same = (found: Thing) => found;
      for (const id of [undefined, 5, '', null]) {
        expect((await rejection(things.modify(id as never, same))).code).toBe('id_invalid');
      }
      for (const change of [undefined, { n: 2 }, 'n']) {
        const error = await rejection(things.modify('a', change as never));
        expect(error instanceof fixture.lib.ValueError).toBe(true);
        expect(error.place).toBe('change');
      }
      for (const options of [{ retries: -1 }, { retries: 1.5 }, { tries: 1 }, { signal: 5 }]) {
        const error = await rejection(things.modify('a', same, options as never));
        expect(error instanceof fixture.lib.OptionError).toBe(true);
        expect(error.place).toContain(Object.keys(options)[0]);
      }
      expect(await things.get('a')).toMatchObject({ n: 1, _updated: false });
    });
  });
}
