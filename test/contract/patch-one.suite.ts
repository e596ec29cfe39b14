import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { own, rejection } from './outcomes.ts';

interface Job {
  _id?: string;
  n: number;
  state?: string;
  kind?: string;
  by?: { name: string; tries?: number };
  steps?: { name: string; done: boolean }[];
}

const stamped = { indicate_created_timestamp: true };

/** patchOne and deleteOne: find one and change it, in one step; upserts; positional updates. */
export function patchOneSuite(fixture: ClientFixture): void {
  const jobs = async (count = 4) => {
    const made = fixture.documents<Job>(stamped);
    await made.insertMany(
      Array.from({ length: count }, (_, n) => ({ _id: `j${n}`, n, state: 'new' })),
    );
    return made;
  };

  describe('patchOne', () => {
    test('changes the first match, and returns it as it is then', async () => {
      const all = await jobs();
      const taken = await all.patchOne({ state: 'new' }, { $set: { state: 'taken' } });
      expect(taken).toMatchObject({ _id: 'j0', n: 0, state: 'taken', _updated: true });
      const last = await all.patchOne({ state: 'new' }, { state: 'last' }, { sort: { n: -1 } });
      expect(last).toMatchObject({ _id: 'j3', state: 'last' });
      expect((await all.filter({})).map(({ state }) => state)).toEqual([
        'taken',
        'new',
        'new',
        'last',
      ]);
      await fixture.reopen();
      const again = fixture.documents<Job>(stamped);
      expect(await again.get('j3')).toEqual(last);
    });

    test('finds nothing', async () => {
      const all = await jobs();
      expect(await all.patchOne({ n: 9 }, { $inc: { n: 1 } })).toBeUndefined();
      expect(await all.patchOne({ n: 9 }, { $setOnInsert: { n: 1 } })).toBeUndefined();
      expect(await all.count()).toBe(4);
    });

    test('gives each of many calls at once another document', async () => {
      const all = await jobs(30);
      const calls = Array.from({ length: 40 }, () =>
        all.patchOne({ state: 'new' }, { state: 'taken' }, { sort: { n: 1 } }),
      );
      const taken = (await Promise.all(calls)).map((job) => job?.n);
      expect(taken).toEqual([
        ...Array.from({ length: 30 }, (_, n) => n),
        ...Array(10).fill(undefined),
      ]);
    });

    test('chooses by a function or `where` too', async () => {
      const all = await jobs(20);
      const calls = Array.from({ length: 12 }, () =>
        all.patchOne(({ n, state }) => n >= 10 && state === 'new', { state: 'taken' }),
      );
      const taken = (await Promise.all(calls)).map((job) => job?.n);
      expect(taken).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, undefined, undefined]);
      const odd = { where: ({ n }: Job) => n % 2 === 1, sort: { n: -1 } } as const;
      expect(await all.patchOne({ state: 'new' }, { state: 'odd' }, odd)).toMatchObject({ n: 9 });
    });

    test('takes archived documents only where it is told to', async () => {
      const all = await jobs(2);
      await all.archive('j0');
      expect(await all.patchOne({}, { kind: 'a' })).toMatchObject({ _id: 'j1' });
      expect(await all.patchOne({}, { kind: 'b' }, { archived: 'only' })).toMatchObject({
        ...{ _id: 'j0', kind: 'b', _archived: true },
      });
    });

    test('changes nothing where it is refused', async () => {
      const all = await jobs(2);
      const before = await all.filter({});
      const refused: [() => Promise<unknown>, object][] = [
        [() => all.patchOne({}, { $inc: { state: 1 } } as never), { code: 'kind_mismatch' }],
        [() => all.patchOne({ n: { $foo: 1 } } as never, { n: 1 }), { code: 'operator_unknown' }],
        [
          () => all.patchOne({}, { n: 1 }, { limit: 2 } as never),
          { code: 'option_unknown', place: 'limit' },
        ],
        [
          () => all.patchOne({}, { n: 1 }, { upsert: 1 } as never),
          { code: 'option_invalid', place: 'upsert' },
        ],
        [
          () => all.patchOne(() => false, { n: 1 }, { upsert: true }),
          { code: 'option_invalid', place: 'upsert' },
        ],
        [
          () => all.patchOne({}, { n: 1 }, { where: () => true, upsert: true }),
          { code: 'option_invalid' },
        ],
        [
          () => all.patchOne({ n: 7 }, { n: 1 }, { archived: 'only', upsert: true }),
          { code: 'option_invalid', place: 'upsert' },
        ],
        [
          () => all.patchOne({}, { n: 1 }, { array_filters: {} as never }),
          { code: 'option_invalid', place: 'array_filters' },
        ],
        [() => all.patchOne(undefined as never, { n: 1 }), { code: 'criteria_invalid' }],
        [() => all.patchOne({}, undefined as never), { code: 'document_invalid' }],
      ];
      for (const [call, error] of refused) expect(await rejection(call())).toMatchObject(error);
      expect(await all.filter({})).toEqual(before);
    });

    test('is one emission of a live query', async () => {
      const all = await jobs(3);
      const log = new LiveLog(all.live({ state: 'new' }));
      await log.until((data) => data.length === 3);
      const before = log.snapshots.length;
      await all.patchOne({ state: 'new' }, { $set: { state: 'taken' }, $inc: { n: 5 } });
      await log.until((data) => data.length === 2);
      expect(log.snapshots.length).toBe(before + 1);
      log.stop();
    });

    test('works in transactions, and rolls back with them', async () => {
      const all = await jobs(3);
      const take = { state: 'taken' };
      const pair = await fixture.db.transaction(async (tx) => [
        (await tx(all).patchOne({ state: 'new' }, take))?._id,
        (await tx(all).patchOne({ state: 'new' }, { $set: take }))?._id,
        (await tx(all).patchOne(({ state }) => state === 'new', take))?._id,
        (await tx(all).deleteOne({ state: 'taken' }))?._id,
      ]);
      expect(pair).toEqual(['j0', 'j1', 'j2', 'j0']);
      const failing = fixture.db.transaction(async (tx) => {
        await tx(all).patchOne({ n: 9 }, { kind: 'x' }, { upsert: true });
        await tx(all).deleteOne({});
        throw new Error('no');
      });
      expect(await rejection(failing)).toMatchObject({ message: 'no' });
      expect((await all.filter({})).map(({ _id }) => _id)).toEqual(['j1', 'j2']);
    });
  });

  describe('upsert', () => {
    test('inserts what the criteria ask to be equal, with the changes on top', async () => {
      const all = await jobs(1);
      const given = { state: 'x', 'by.name': 'Ada', n: { $gt: 5 }, $and: [{ kind: { $eq: 'k' } }] };
      const changes = { $inc: { n: 2 }, $setOnInsert: { 'by.tries': 1 } };
      const first = await all.patchOne(given, changes, { upsert: true });
      expect(own([first as object])[0]).toEqual({
        state: 'x',
        by: { name: 'Ada', tries: 1 },
        kind: 'k',
        n: 2,
      });
      expect(first).toMatchObject({ _updated: false, _created_timestamp: expect.any(Number) });
      await all.patch(first?._id as string, { n: 6 });
      const second = await all.patchOne(given, changes, { upsert: true });
      expect(own([second as object])[0]).toEqual({
        state: 'x',
        by: { name: 'Ada', tries: 1 },
        kind: 'k',
        n: 8,
      });
      expect(second).toMatchObject({ _id: first?._id, _updated: true });
      await fixture.reopen();
      expect(await fixture.documents<Job>().count()).toBe(2);
    });

    test('takes plain fields, and the `_id` of the criteria', async () => {
      const all = await jobs(0);
      const made = await all.patchOne(
        { _id: 'mine', _archived: false },
        { n: 1 },
        { upsert: true },
      );
      expect(made).toMatchObject({ _id: 'mine', n: 1, _archived: false });
      expect(
        await all.patchOne({ _id: 'mine' }, { $inc: { n: 1 } }, { upsert: true }),
      ).toMatchObject({
        ...{ _id: 'mine', n: 2 },
      });
      await all.archive('mine');
      const taken = all.patchOne({ _id: 'mine' }, { n: 1 }, { upsert: true });
      expect(await rejection(taken)).toMatchObject({ code: 'id_taken' });
      const wrong = all.patchOne({ _id: 5 } as never, { n: 1 }, { upsert: true });
      expect(await rejection(wrong)).toMatchObject({ code: 'id_invalid', place: '_id' });
      const unclear = all.patchOne(
        { $and: [{ n: 1 }, { n: 1 }], state: 'y' },
        { kind: 'z' },
        { upsert: true },
      );
      expect(await rejection(unclear)).toMatchObject({ code: 'paths_conflict', place: 'n' });
    });

    test.each<[criteria: object, fields: object]>([
      [{ x: { $in: [1] } }, { x: 1 }],
      [{ x: { $all: [1] } }, { x: 1 }],
      [{ x: { $in: [1, 2] } }, {}],
      [{ x: { $in: [/a/] } }, {}],
      [{ x: { $all: [{ $elemMatch: { y: 1 } }] } }, {}],
      [{ x: { $elemMatch: { $eq: 1 } } }, {}],
      [{ x: { $not: { $eq: 1 } } }, {}],
      [{ x: { $gt: 1 } }, {}],
      [{ x: /abc/ }, {}],
      [{ x: { $eq: /abc/ } }, { x: /abc/ }],
      [{ x: null }, { x: null }],
      [{ x: [1, 2] }, { x: [1, 2] }],
      [{ x: { y: 1 } }, { x: { y: 1 } }],
      [{ 'x.x': { $all: [1] } }, { x: { x: 1 } }],
      [{ $and: [{ 'x.x': 1 }, { 'x.y': { $eq: 2 } }] }, { x: { x: 1, y: 2 } }],
      [{ $or: [{ x: 1 }] }, { x: 1 }],
      [{ $or: [{ x: 1 }, { x: 1 }] }, {}],
      [{ $nor: [{ x: 1 }] }, {}],
    ])('begins with the values that %o asks for', async (criteria, fields) => {
      const all = fixture.documents<any>();
      const made = await all.patchOne(criteria, { $set: { a: 1 } }, { upsert: true });
      expect(own([made])[0]).toEqual({ ...fields, a: 1 });
    });

    test.each<[criteria: object, code: string, place: string]>([
      [{ x: { $all: [1, 2] } }, 'paths_conflict', 'x'],
      [{ x: 1, 'x.x': 1 }, 'paths_conflict', 'x.x'],
      [{ _id: { $all: ['a', 'b'] } }, 'paths_conflict', '_id'],
      [{ '_id.x': 1 }, 'id_invalid', '_id.x'],
      [{ 'x..y': 1 }, 'key_invalid', 'x..y'],
      [{ _archived: true, x: 1 }, 'update_invalid', 'criteria._archived'],
      [{ _created_timestamp: 5 }, 'update_invalid', 'criteria._created_timestamp'],
    ])('makes nothing of %o', async (criteria, code, place) => {
      const all = fixture.documents<any>();
      const refused = all.patchOne(criteria, { $set: { a: 1 } }, { upsert: true });
      expect(await rejection(refused)).toMatchObject({ code, place });
      expect(await all.count()).toBe(0);
    });

    test.each<[changes: object, schema?: object]>([
      [{ _id: 'mine', x: 1 }],
      [{ $set: { _id: 'mine', x: 1 } }],
      [{ $set: { x: 1 }, $setOnInsert: { _id: 'mine' } }],
    ])('gives a new document the `_id` of %o', async (changes) => {
      const schema = {
        '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
      } as const;
      for (const options of [{}, { schema }]) {
        const all = fixture.documents<any>(options as object);
        for (const upsert of [
          () => all.patchOne({ y: 1 }, changes, { upsert: true }),
          () =>
            fixture.db.transaction((tx) => tx(all).patchOne({ y: 1 }, changes, { upsert: true })),
        ]) {
          expect(await upsert()).toMatchObject({ _id: 'mine', x: 1, y: 1 });
          // The one that is found keeps its own.
          await all.deleteMany({});
          await all.insert({ _id: 'other', y: 1 });
          expect(await upsert()).toMatchObject({ _id: 'other', x: 1, y: 1 });
          await all.deleteMany({});
        }
        await all.insert({ _id: 'mine', y: 2 });
        const taken = all.patchOne({ y: 1 }, changes, { upsert: true });
        expect(await rejection(taken)).toMatchObject({ code: 'id_taken' });
        await all.deleteMany({});
        const others = all.patchOne({ _id: 'a', y: 1 }, changes, { upsert: true });
        expect(await rejection(others)).toMatchObject({
          ...{ code: 'paths_conflict', place: '_id' },
        });
        expect(await all.count()).toBe(0);
      }
    });

    test('finds by an `$in` of one id what it has made', async () => {
      const all = fixture.documents<any>();
      const count = () =>
        all.patchOne({ _id: { $in: ['a'] } }, { $inc: { n: 1 } }, { upsert: true });
      expect([await count(), await count()]).toMatchObject([
        { _id: 'a', n: 1 },
        { _id: 'a', n: 2 },
      ]);
    });

    test('makes one document of many at once', async () => {
      const all = fixture.documents<Job>();
      const calls = Array.from({ length: 20 }, () =>
        all.patchOne({ state: 'counter' }, { $inc: { n: 1 } }, { upsert: true }),
      );
      expect((await Promise.all(calls)).map((one) => one?.n)).toEqual(
        Array.from({ length: 20 }, (_, n) => n + 1),
      );
      expect(await all.count()).toBe(1);
    });

    test('keeps values that JSON lacks, and copies those of the criteria', async () => {
      const all = fixture.documents<any>();
      const at = new Date(5);
      const tags = ['a'];
      const made = await all.patchOne({ at, tags }, { $push: { tags: 'b' } }, { upsert: true });
      expect(own([made])[0]).toEqual({ at, tags: ['a', 'b'] });
      expect(tags).toEqual(['a']);
    });
  });

  describe('positional updates', () => {
    const steps = [
      { name: 'a', done: false },
      { name: 'b', done: false },
      { name: 'c', done: true },
    ];

    test('change items by filters, by criteria, or all', async () => {
      const all = fixture.documents<Job>();
      await all.insert({ _id: 'x', n: 1, steps });
      const array_filters = [{ 'step.done': false }];
      const left = await all.patch(
        'x',
        { $set: { 'steps.$[step].name': 'left' } },
        { array_filters },
      );
      expect(left?.steps?.map(({ name }) => name)).toEqual(['left', 'left', 'c']);
      expect(await all.patchMany({ 'steps.name': 'c' }, { 'steps.$.name': 'z' })).toBe(1);
      const done = await all.patchOne({ 'steps.name': 'left' }, { 'steps.$.done': true });
      expect(done?.steps).toEqual([
        { name: 'left', done: true },
        { name: 'left', done: false },
        { name: 'z', done: true },
      ]);
      expect(await all.patchMany({}, { $unset: { 'steps.$[].name': '' } })).toBe(1);
      await fixture.reopen();
      expect((await fixture.documents<Job>().get('x'))?.steps).toEqual([
        { done: true },
        { done: false },
        { done: true },
      ]);
    });

    test('refuse $ where no criteria are', async () => {
      const all = fixture.documents<Job>();
      await all.insert({ _id: 'x', n: 1, steps });
      const calls = [
        () => all.patch('x', { 'steps.$.done': true }),
        () => all.patchMany(() => true, { 'steps.$.done': true }),
        () => all.patchOne(() => true, { $set: { 'steps.$.done': true } }),
      ];
      for (const call of calls)
        expect(await rejection(call())).toMatchObject({ code: 'update_invalid' });
      const other = all.patchMany({ n: 1 }, { 'steps.$.done': true });
      expect(await rejection(other)).toMatchObject({ code: 'update_invalid', place: 'steps.$' });
      expect((await all.get('x'))?.steps).toEqual(steps);
    });
  });

  describe('wrong changes', () => {
    const schema = {
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
    } as const;
    const step = [{ step: 1 }];
    test.each<[code: string, changes: object, array_filters?: object[]]>([
      ['update_invalid', { $foo: { n: 1 } }],
      ['update_invalid', { $inc: { n: 'x' } }],
      ['update_invalid', { $set: { 'steps.$[step].n': 1 } }],
      ['update_invalid', { $set: { n: 1 } }, step],
      ['update_invalid', { n: 1 }, step],
      ['update_invalid', { 'steps.$[step].n': 1 }, [...step, ...step]],
      ['operator_unknown', { 'steps.$[step].n': 1 }, [{ step: { $foo: 1 } }]],
      ['operator_unknown', { $pull: { steps: { $foo: 1 } } }],
      ['paths_conflict', { $set: { n: 1 }, $inc: { n: 1 } }],
    ])('are %s, also where nothing is found: %o', async (code, changes, array_filters) => {
      const options = { array_filters };
      for (const given of [{}, { schema }]) {
        const all = fixture.documents<any>(given as object);
        await all.upsert({ _id: 'x', n: 1, steps: [] });
        for (const _id of ['x', 'none']) {
          const calls = [
            () => all.patch(_id, changes, options),
            () => all.patchOne({ _id }, changes, options),
            () => all.patchOne((one) => one._id === _id, changes, options),
            () => all.patchMany({ _id }, changes, options),
            () => all.patchMany((one) => one._id === _id, changes, options),
            () => fixture.db.transaction((tx) => tx(all).patchOne({ _id }, changes, options)),
          ];
          for (const call of calls) expect(await rejection(call())).toMatchObject({ code });
        }
        expect(own(await all.filter({}))).toEqual([{ n: 1, steps: [] }]);
      }
    });
  });

  describe('deleteOne', () => {
    test('deletes the first match, and returns it as it was', async () => {
      const all = await jobs();
      const last = await all.get('j3');
      expect(await all.deleteOne({}, { sort: { n: -1 } })).toEqual(last);
      expect(await all.deleteOne({ n: { $gt: 0 } })).toMatchObject({ _id: 'j1' });
      expect(await all.deleteOne(({ n }) => n > 0)).toMatchObject({ _id: 'j2' });
      expect(await all.deleteOne({ n: 9 })).toBeUndefined();
      expect((await all.filter({})).map(({ _id }) => _id)).toEqual(['j0']);
    });

    test('of many at once each gets another', async () => {
      const all = await jobs(9);
      const calls = Array.from({ length: 12 }, () => all.deleteOne({}, { sort: { n: -1 } }));
      const gone = (await Promise.all(calls)).map((one) => one?.n);
      expect(gone).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0, undefined, undefined, undefined]);
      await fixture.reopen();
      expect(await fixture.documents<Job>().count()).toBe(0);
    });
  });

  describe('under a schema', () => {
    /** Rounds `n`, and refuses negative ones. */
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) => {
          const { n } = value as Job;
          if (!(n >= 0)) return { issues: [{ message: 'n is negative', path: ['n'] }] };
          return { value: { ...(value as Job), n: Math.round(n) } };
        },
      },
    } as const;
    const rounded = async () => {
      const made = fixture.documents<Job>({ schema });
      await made.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
      ]);
      return made;
    };

    test('patchOne stores the output, and returns it', async () => {
      const all = await rounded();
      expect(await all.patchOne({ n: 1 }, { $inc: { n: 0.6 } })).toMatchObject({ _id: 'a', n: 2 });
      expect(await all.patchOne({ n: 2 }, { n: 4.4 }, { sort: { _id: -1 } })).toMatchObject({
        ...{ _id: 'b', n: 4, _updated: true },
      });
      const made = await all.patchOne({ state: 'x' }, { $inc: { n: 6.7 } }, { upsert: true });
      expect(made).toMatchObject({ state: 'x', n: 7, _updated: false });
      expect(await all.patchOne({ state: 'x' }, { $inc: { n: 1 } }, { upsert: true })).toEqual({
        ...{ ...made, n: 8, _updated: true },
      });
      expect(await all.count()).toBe(3);
    });

    test('what it refuses changes nothing', async () => {
      const all = await rounded();
      const before = await all.filter({});
      const calls = [
        () => all.patchOne({ n: 1 }, { $inc: { n: -5 } }),
        () => all.patchOne({ state: 'x' }, { n: -1 }, { upsert: true }),
        () => fixture.db.transaction((tx) => tx(all).patchOne({ n: 1 }, { n: -1 })),
      ];
      for (const call of calls)
        expect(await rejection(call())).toMatchObject({ code: 'schema_violation' });
      expect(await all.patchOne({ n: 9 }, { n: 1 })).toBeUndefined();
      expect(await all.filter({})).toEqual(before);
    });

    test('of many at once each gets another, and two upserts make one', async () => {
      const all = fixture.documents<Job>({ schema });
      await all.insertMany(Array.from({ length: 8 }, (_, n) => ({ n, state: 'new' })));
      const take = () => all.patchOne({ state: 'new' }, { state: 'taken' });
      const taken = (await Promise.all(Array.from({ length: 10 }, take))).map((one) => one?.n);
      expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7, undefined, undefined]);
      const count = () => all.patchOne({ kind: 'c' }, { $inc: { n: 1 } }, { upsert: true });
      expect((await Promise.all(Array.from({ length: 5 }, count))).map((one) => one?.n)).toEqual([
        1, 2, 3, 4, 5,
      ]);
    });

    test('positions and filters count there too', async () => {
      const all = await rounded();
      const steps = [
        { name: 'a', done: false },
        { name: 'b', done: false },
      ];
      await all.patch('a', { steps });
      const array_filters = [{ 'step.name': 'a' }];
      await all.patch('a', { $set: { 'steps.$[step].done': true } }, { array_filters });
      await all.patchMany({ 'steps.name': 'b' }, { 'steps.$.name': 'c' });
      const seen = await all.patchOne({ 'steps.name': 'a' }, { 'steps.$.name': 'd' });
      expect(seen?.steps).toEqual([
        { name: 'd', done: true },
        { name: 'c', done: false },
      ]);
    });
  });
}
