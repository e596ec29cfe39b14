import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { EventLog, rejection, thrown } from './outcomes.ts';

/** modify of key-value collections. */
export function modifyValuesSuite(fixture: ClientFixture): void {
  describe('modify of a value', () => {
    test('stores what the function returns, at a record or inside one', async () => {
      const values = fixture.keyValues();
      expect(await values.modify<number>('n', (n = 0) => n + 1)).toBe(1);
      expect(await values.modify<number>('n', async (n = 0) => n + 1)).toBe(2);
      await values.set('user', { name: 'Ada', days: [new Date(1)] });
      const name = (old?: string) => `${old} L.`;
      expect(await values.modify<string>('user.name', name)).toBe('Ada L.');
      await values.modify<Date>('user.days[0]', (at) => new Date(Number(at) + 1));
      await values.modify('user.deep.map', (none) => new Map([[String(none), 2n]]));
      const stored = [
        ['n', 2],
        [
          'user',
          {
            name: 'Ada L.',
            days: [new Date(2)],
            deep: { map: new Map([['undefined', 2n]]) },
          },
        ],
      ];
      expect(await values.entries()).toEqual(stored);
      await fixture.reopen();
      expect(await fixture.keyValues().entries()).toEqual(stored);
    });

    test('gives the function a copy', async () => {
      const values = fixture.keyValues();
      await values.set('a', { list: [1] });
      await values.modify<{ list: number[] }>('a', (value) => {
        value?.list.push(2);
        return undefined;
      });
      expect(await values.get('a')).toEqual({ list: [1] });
    });

    test('returning undefined changes nothing and resolves with the value', async () => {
      const values = fixture.keyValues();
      await values.set('a', [1]);
      const log = new EventLog(values, 'change');
      expect(await values.modify('a', () => undefined)).toEqual([1]);
      expect(await values.modify('none', async () => undefined)).toBe(undefined);
      await values.set('last', 1);
      await log.until((events) => events.length > 0);
      expect(log.events.flatMap(({ changes }) => changes)).toEqual([{ id: 'last', kind: 'set' }]);
      expect(await values.keys()).toEqual(['a', 'last']);
    });

    test('rejects with what the function throws, and changes nothing', async () => {
      const values = fixture.keyValues();
      await values.set('a', 1);
      const reason = new RangeError('no');
      const throwing = values.modify('a', () => {
        throw reason;
      });
      expect(await rejection(throwing)).toBe(reason);
      expect(await rejection(values.modify('a', () => Promise.reject(reason)))).toBe(reason);
      expect(await rejection(values.modify('a', () => () => 1))).toMatchObject({
        code: 'value_unsupported',
        place: 'value',
      });
      expect(await rejection(values.modify('a.deep', () => 1))).toMatchObject({
        code: 'kind_mismatch',
      });
      expect(await values.get('a')).toBe(1);
    });

    test('runs again when the record was changed, made or deleted meanwhile', async () => {
      const values = fixture.keyValues();
      const other = fixture.keyValues();
      const seen: unknown[] = [];
      const stored = await values.modify<number>('a.n', async (n) => {
        seen.push(n);
        if (seen.length === 1) await other.set('a.n', 5);
        if (seen.length === 2) await other.delete('a');
        if (seen.length === 3) await other.set('a.else', 5);
        return (n ?? 0) + 1;
      });
      expect(seen).toEqual([undefined, 5, undefined, undefined]);
      expect(stored).toBe(1);
      expect(await values.get('a')).toEqual({ else: 5, n: 1 });
    });

    test('of other records it takes no notice', async () => {
      const values = fixture.keyValues();
      let runs = 0;
      await values.modify('a', async () => {
        await values.set('b', ++runs);
        await values.save();
        return runs;
      });
      expect(await values.entries()).toEqual([
        ['b', 1],
        ['a', 1],
      ]);
    });

    test('gives up after its retries, and changes nothing', async () => {
      const values = fixture.keyValues();
      let runs = 0;
      const always = values.modify(
        'a.n',
        async () => {
          await values.set('a.n', ++runs);
          return -1;
        },
        { retries: 3 },
      );
      const error = await rejection(always);
      expect(error instanceof fixture.lib.TransactionError).toBe(true);
      expect(error).toMatchObject({ code: 'transaction_conflict', place: 'a.n' });
      expect(await values.get('a.n')).toBe(4);
    });

    test('a signal ends it, though the function never does', async () => {
      const values = fixture.keyValues();
      const reason = new RangeError('enough');
      const controller = new AbortController();
      const waiting = values.modify('a', () => new Promise(() => controller.abort(reason)), {
        signal: controller.signal,
      });
      expect(await rejection(waiting)).toBe(reason);
      expect(await values.count()).toBe(0);
    });

    test('refuses bad arguments', async () => {
      const values = fixture.keyValues();
      const one = () => 1;
      for (const key of ['', 'a..b', null, {}])
        expect((await rejection(values.modify(key as never, one))).code).toBe('key_invalid');
      const error = await rejection(values.modify('a', 5 as never));
      expect(error).toMatchObject({ code: 'value_unsupported', place: 'change' });
      for (const options of [{ retries: -1 }, { tries: 1 }]) {
        const refused = await rejection(values.modify('a', one, options as never));
        expect(refused instanceof fixture.lib.OptionError).toBe(true);
      }
      expect(await values.count()).toBe(0);
    });

    test('adds up: a hundred of each of two handles at the same time', async () => {
      const handles = [fixture.keyValues(), fixture.keyValues()];
      const calls = handles.flatMap((values) =>
        Array.from({ length: 100 }, () =>
          values.modify<number>('a.n', async (n = 0) => n + 1, { retries: 1000 }),
        ),
      );
      const stored = await Promise.all(calls);
      expect(await handles[0]?.get('a.n')).toBe(200);
      expect(new Set(stored).size).toBe(200);
    });

    if (!fixture.caching || fixture.kind.engine !== 'thread') return;

    test('works without promises, but for an async function', async () => {
      const values = fixture.keyValues();
      await values.ready;
      const { sync } = values;
      expect(sync.modify<number>('n', (n = 0) => n + 1)).toBe(1);
      const error = thrown(() => sync.modify('n', (async () => 5) as never));
      expect(error).toMatchObject({ code: 'value_unsupported', place: 'change' });
      expect(sync.get('n')).toBe(1);
    });
  });
}
