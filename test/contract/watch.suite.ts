import { describe, expect, test } from 'vitest';
import type { DocumentCollection, LiveOptions, WatchHandlers } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { thrown } from './outcomes.ts';

interface Task {
  n: number;
  text?: string;
}

/** What a watch calls, as words. */
class WatchLog {
  readonly calls: string[] = [];
  readonly stop: () => void;
  #arrived: () => void = () => undefined;

  constructor(things: DocumentCollection<Task>, params: object, options?: LiveOptions<Task>) {
    const note = (call: string) => {
      this.calls.push(call);
      this.#arrived();
    };
    this.stop = things.watch(
      params,
      {
        enter: ({ _id }, isInitial) => note(`${isInitial ? 'initial' : 'enter'} ${_id}`),
        update: ({ _id, n }, before) => note(`update ${_id} ${before.n} ${n}`),
        exit: ({ _id, n }) => note(`exit ${_id} ${n}`),
        error: ({ message }) => note(message),
      },
      options,
    );
  }

  /** The calls since the last time, once there are as many. */
  async next(count: number): Promise<string[]> {
    while (this.calls.length < count) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    return this.calls.splice(0);
  }
}

/** Enter, update and exit. */
export function watchSuite(fixture: ClientFixture): void {
  const tasks = async () => {
    const things = fixture.documents<Task>();
    await things.insertMany([1, 2, 3, 4].map((n) => ({ _id: `t${n}`, n })));
    return things;
  };

  describe('watch', () => {
    test('calls enter for those that are there, then what changes', async () => {
      const things = await tasks();
      const log = new WatchLog(things, { n: { $gte: 2 } });
      expect(await log.next(3)).toEqual(['initial t2', 'initial t3', 'initial t4']);
      const steps: [() => Promise<unknown>, string[]][] = [
        [() => things.insert({ _id: 'new', n: 9 }), ['enter new']],
        [() => things.patch('t2', { n: 7 }), ['update t2 2 7']],
        [() => things.patch('t1', { n: 5 }), ['enter t1']],
        [() => things.patch('t3', { n: 0 }), ['exit t3 3']],
        [() => things.archive('t4'), ['exit t4 4']],
        [() => things.unarchive('t4'), ['enter t4']],
        [() => things.delete('new'), ['exit new 9']],
        [() => things.deleteMany({ n: { $gt: 5 } }), ['exit t2 7']],
      ];
      for (const [change, calls] of steps) {
        await change();
        expect(await log.next(calls.length)).toEqual(calls);
      }
      await things.insert({ n: 1 });
      await things.patch('t1', { n: 5 });
      await things.patch('t1', { text: 'last' });
      expect(await log.next(1)).toEqual(['update t1 5 5']);
      log.stop();
    });

    test('watches the window of sort, skip and limit, and exits first', async () => {
      const things = await tasks();
      const log = new WatchLog(things, {}, { sort: { n: -1 }, limit: 2 });
      expect(await log.next(2)).toEqual(['initial t4', 'initial t3']);
      await things.insert({ _id: 't9', n: 9 });
      expect(await log.next(2)).toEqual(['exit t3 3', 'enter t9']);
      await things.patch('t4', { n: 0 });
      expect(await log.next(2)).toEqual(['exit t4 4', 'enter t3']);
      await things.delete('t9');
      expect(await log.next(2)).toEqual(['exit t9 9', 'enter t2']);
      log.stop();
      const second = new WatchLog(things, {}, { sort: { n: 1 }, skip: 1, limit: 1 });
      expect(await second.next(1)).toEqual(['initial t1']);
      await things.delete('t4');
      expect(await second.next(2)).toEqual(['exit t1 1', 'enter t2']);
      second.stop();
    });

    test('takes functions and the other options of live', async () => {
      const things = await tasks();
      const seen: object[] = [];
      const stop = things.watch(
        ({ n }) => n < 3,
        { enter: (task) => seen.push(task), update: (task) => seen.push(task) },
        { select: ['n'], where: ({ n }) => n > 1, throttle: 1 },
      );
      await expect.poll(() => seen).toEqual([{ _id: 't2', n: 2 }]);
      expect(Object.isFrozen(seen[0])).toBe(true);
      await things.patch('t2', { text: 'not selected' });
      await things.patch('t2', { n: 2.5 });
      await expect
        .poll(() => seen)
        .toEqual([
          { _id: 't2', n: 2 },
          { _id: 't2', n: 2.5 },
        ]);
      stop();
    });

    test('a large first result enters whole', async () => {
      const things = fixture.documents<Task>();
      await things.insertMany(Array.from({ length: 5000 }, (_, n) => ({ n })));
      const log = new WatchLog(things, {});
      const calls = await log.next(5000);
      expect(new Set(calls).size).toBe(5000);
      expect(calls.every((call) => call.startsWith('initial '))).toBe(true);
      log.stop();
    });

    test('stop() ends it, inside of a handler too', async () => {
      const things = await tasks();
      const entered: string[] = [];
      let stopped: () => void = () => undefined;
      const stopping = new Promise<void>((resolve) => {
        stopped = resolve;
      });
      const stop = things.watch(
        {},
        {
          enter: ({ _id }) => {
            entered.push(_id);
            if (_id !== 't2') return;
            stop();
            stopped();
          },
          exit: ({ _id }) => entered.push(`exit ${_id}`),
          error: ({ message }) => entered.push(message),
        },
      );
      const other = new WatchLog(things, {});
      await Promise.all([stopping, other.next(4)]);
      await things.delete('t1');
      await other.next(1);
      expect(entered).toEqual(['t1', 't2']);
      stop();
      other.stop();
      const early = new WatchLog(things, {});
      early.stop();
      const last = new WatchLog(things, {});
      await last.next(3);
      expect(early.calls).toEqual([]);
      last.stop();
    });

    test('error gets the typed error of the query', async () => {
      const things = fixture.documents<Task>({ activate_drop_method: true });
      await things.insert({ n: 1 });
      const errors: unknown[] = [];
      const entered = new Promise((enter) => {
        things.watch({}, { enter, error: (error) => errors.push(error) });
      });
      await entered;
      await things.Drop();
      await expect.poll(() => errors).toMatchObject([{ code: 'collection_dropped' }]);
    });

    test('refuses handlers, criteria and options that are none', () => {
      const things = fixture.documents<Task>();
      const given: [unknown, string, string][] = [
        [{ entre: () => undefined }, 'option_unknown', 'entre'],
        [{ enter: 'log' }, 'option_invalid', 'enter'],
        [null, 'option_invalid', 'watch()'],
        [() => undefined, 'option_invalid', 'watch()'],
      ];
      for (const [handlers, code, place] of given) {
        const error = thrown(() => things.watch({}, handlers as WatchHandlers<object>));
        expect(error).toMatchObject({ name: 'OptionError', code, place });
      }
      expect(thrown(() => things.watch({}, {}, { after: 1 } as object))).toMatchObject({
        code: 'option_unknown',
        place: 'after',
      });
      expect(thrown(() => things.watch([] as never, {}))).toMatchObject({
        code: 'criteria_invalid',
      });
    });
  });
}
