import { describe, expect, test } from 'vitest';
import type { DocumentCollection, FindOptions } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { allOf, rejection } from './outcomes.ts';

type Call = (
  things: DocumentCollection<{ n: number }>,
  options: FindOptions<{ n: number }>,
) => Promise<unknown>;

const CALLS: Record<string, Call> = {
  filter: (things, options) => things.filter({ n: { $gte: 0 } }, options),
  'filter in order': (things, options) => things.filter({}, { ...options, sort: { n: -1 } }),
  'filter by a function': (things, options) => things.filter(() => true, options),
  'filter with where': (things, options) => things.filter({}, { ...options, where: () => true }),
  find: (things, options) => things.find({ n: -1 }, options),
  has: (things, options) => things.has({ n: -1 }, options),
  count: (things, options) => things.count({ n: { $gte: 0 } }, options),
  'count by a function': (things, options) => things.count(() => true, options),
  explain: (things, options) => things.explain({ n: -1 }, options),
  patchMany: (things, options) => things.patchMany({ n: { $gte: 0 } }, { $inc: { n: 1 } }, options),
  'patchMany by a function': (things, options) =>
    things.patchMany(() => true, { $inc: { n: 1 } }, options),
  deleteMany: (things, options) => things.deleteMany({ n: { $gte: 0 } }, options),
  'deleteMany by a function': (things, options) => things.deleteMany(() => true, options),
  each: (things, options) => allOf(things.each({}, options)),
};

/** A signal that counts its listeners. */
function countedSignal(controller: AbortController) {
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.delete(args[1]);
    remove(...args);
  };
  return { signal, listeners: () => listeners.size };
}

/** The option `signal`. */
export function abortingSuite(fixture: ClientFixture): void {
  describe('aborting', () => {
    const numbers = async (count: number) => {
      const things = fixture.documents<{ n: number }>();
      await things.insertMany(Array.from({ length: count }, (_, n) => ({ n })));
      await things.save();
      return things;
    };

    for (const [name, call] of Object.entries(CALLS)) {
      test(`${name} rejects with the reason: aborted before the call and in flight`, async () => {
        const things = await numbers(10);
        const reason = new RangeError('enough');
        expect(await rejection(call(things, { signal: AbortSignal.abort(reason) }))).toBe(reason);
        const controller = new AbortController();
        const { signal, listeners } = countedSignal(controller);
        const under = call(things, { signal });
        controller.abort(reason);
        expect(await rejection(under)).toBe(reason);
        const later = await things.count();
        expect(later).toBe(10);
        await fixture.db.save();
        expect(listeners()).toBe(0);
        expect((await things.filter({})).length).toBe(10);
      });
    }

    test('without a reason a call rejects with an AbortError', async () => {
      const things = await numbers(3);
      const controller = new AbortController();
      const found = things.filter({}, { signal: controller.signal });
      controller.abort();
      expect((await rejection(found)).name).toBe('AbortError');
    });

    test('a finished call removes its listener from the signal', async () => {
      const things = await numbers(10);
      const controller = new AbortController();
      const { signal, listeners } = countedSignal(controller);
      for (const call of Object.values(CALLS)) await call(things, { signal });
      await rejection(things.filter({ n: { $no: 1 } } as never, { signal }));
      await fixture.db.save();
      expect(listeners()).toBe(0);
      controller.abort();
      expect(await things.count()).toBe(0);
    });

    test('a finished import removes its listener, too', async () => {
      const things = await numbers(10);
      const file = await new Response(
        await things.exportBackup(await things.createBackup()),
      ).blob();
      const { signal, listeners } = countedSignal(new AbortController());
      expect(await things.importBackup(file, { signal })).toBe(10);
      await rejection(things.importBackup(new Blob(['no backup']), { signal }));
      expect(listeners()).toBe(0);
    });

    test('an abort ends a scan between chunks', async () => {
      const things = await numbers(9000);
      const controller = new AbortController();
      const { signal } = controller;
      let seen = 0;
      const found = things.filter(
        () => {
          if (++seen === 100) controller.abort();
          return true;
        },
        { signal },
      );
      expect((await rejection(found)).name).toBe('AbortError');
      expect(seen).toBeLessThan(9000);
      const loop = (async () => {
        const other = new AbortController();
        for await (const { n } of things.each({}, { signal: other.signal })) {
          if (n === 4000) other.abort();
          if (n > 8500) throw new Error('It goes on.');
        }
      })();
      expect((await rejection(loop)).name).toBe('AbortError');
      expect(await things.count()).toBe(9000);
    });

    test('an aborted call does not affect others of the same batch', async () => {
      const things = await numbers(2000);
      const controller = new AbortController();
      const { signal } = controller;
      const calls = [
        things.filter({ n: { $gte: 0 } }, { signal }),
        things.filter({ n: { $gte: 0 } }),
        things.insert({ n: 1 }),
        things.count({}, { signal: new AbortController().signal }),
      ];
      controller.abort();
      const results = await Promise.allSettled(calls);
      expect(results.map(({ status }) => status)).toEqual([
        'rejected',
        'fulfilled',
        'fulfilled',
        'fulfilled',
      ]);
    });

    test('an aborted call in the queue never begins', async () => {
      const things = await numbers(10);
      const controller = new AbortController();
      const { signal } = controller;
      const slow = things.insertMany(
        Array.from({ length: 1500 }, (_, n) => ({ n, pad: 'x'.repeat(2000) })) as never,
      );
      const doomed = [
        things.deleteMany({}, { signal }),
        things.deleteMany(() => true, { signal }),
        things.filter({}, { signal }),
      ];
      controller.abort();
      for (const call of doomed) expect((await rejection(call)).name).toBe('AbortError');
      await slow;
      expect(await things.count()).toBe(1510);
    });
  });
}
