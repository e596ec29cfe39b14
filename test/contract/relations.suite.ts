import { beforeEach, describe, expect, test } from 'vitest';
import type { DocumentCollection, LiveQuery, RelationOptions } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { rejection } from './outcomes.ts';

interface Customer {
  name: string;
  blocked?: boolean;
}

interface Technician {
  name: string;
}

interface Visit {
  job_id: unknown;
  at: number;
  done: boolean;
  technician?: string;
}

interface Job {
  status: string;
  customer_id?: unknown;
  technician_ids?: unknown;
}

interface Collections {
  customers: DocumentCollection<Customer>;
  technicians: DocumentCollection<Technician>;
  visits: DocumentCollection<Visit>;
  jobs: DocumentCollection<Job>;
}

/** Options of queries, as a collection whose type knows no relations does not take them. */
const including = (include: object, options: object = {}) => ({ ...options, include }) as never;

/** `include`, and conditions on partners in criteria. */
export function relationsSuite(fixture: ClientFixture): void {
  describe('relations', () => aboutRelations(fixture));
}

function aboutRelations(fixture: ClientFixture): void {
  const collections = (): Collections => {
    const customers = fixture.documents<Customer>({ name: 'customers' });
    const technicians = fixture.documents<Technician>({ name: 'technicians' });
    const visits: DocumentCollection<Visit> = fixture.documents<Visit>({
      name: 'visits',
      indexes: ['job_id'],
      relations: {
        technician: { one: () => technicians, from: 'technician' },
        job: { one: () => jobs, from: 'job_id' },
      },
    });
    const jobs: DocumentCollection<Job> = fixture.documents<Job>({
      name: 'jobs',
      relations: {
        customer: { one: () => customers, from: 'customer_id' },
        visits: { many: () => visits, to: 'job_id' },
        technicians: { many: () => technicians, from: 'technician_ids' },
      },
    });
    return { customers, technicians, visits, jobs };
  };
  let all: Collections;

  beforeEach(async () => {
    all = collections();
    const { customers, technicians, visits, jobs } = all;
    await customers.insertMany([
      { _id: 'ada', name: 'Ada', blocked: true },
      { _id: 'bob', name: 'Bob' },
    ]);
    await technicians.insertMany([
      { _id: 't1', name: 'Tim' },
      { _id: 't2', name: 'Tom' },
    ]);
    await jobs.insertMany([
      { _id: 'j1', status: 'open', customer_id: 'ada', technician_ids: ['t2', 't1', 't2'] },
      { _id: 'j2', status: 'open', customer_id: 'bob', technician_ids: 't1' },
      { _id: 'j3', status: 'done', customer_id: 'gone', technician_ids: [] },
      { _id: 'j4', status: 'done' },
    ]);
    await visits.insertMany([
      { _id: 'v1', job_id: 'j1', at: 3, done: true, technician: 't1' },
      { _id: 'v2', job_id: 'j1', at: 1, done: false, technician: 't2' },
      { _id: 'v3', job_id: 'j2', at: 2, done: true, technician: 't2' },
      { _id: 'v4', job_id: 'j1', at: 2, done: false },
    ]);
  });

  const names = (list: unknown) => (list as { _id: string }[]).map(({ _id }) => _id);
  const find = async (criteria: object, options?: object) =>
    names(await all.jobs.filter(criteria as never, options as never));

  describe('include', () => {
    test('gives one partner or null, and drops no document', async () => {
      const found = await all.jobs.filter({}, including({ customer: true }));
      const ada = await all.customers.get('ada');
      expect(found).toEqual([
        { ...(await all.jobs.get('j1')), customer: ada },
        { ...(await all.jobs.get('j2')), customer: await all.customers.get('bob') },
        { ...(await all.jobs.get('j3')), customer: null },
        { ...(await all.jobs.get('j4')), customer: null },
      ]);
    });

    test('gives many partners, as a list', async () => {
      const found = await all.jobs.filter({}, including({ visits: true, technicians: true }));
      expect(found.map((job) => names((job as unknown as { visits: [] }).visits))).toEqual([
        ['v1', 'v2', 'v4'],
        ['v3'],
        [],
        [],
      ]);
      const technicians = found.map((job) =>
        names((job as never as { technicians: [] }).technicians),
      );
      expect(technicians).toEqual([['t1', 't2'], ['t1'], [], []]);
    });

    test('keeps the order of partners that are found by several values', async () => {
      const pages = fixture.documents<{ tags?: string[]; wanted?: string[] }>({
        name: 'pages',
        relations: { found: { many: () => pages, from: 'wanted', to: 'tags' } },
      });
      await pages.insertMany([
        { _id: 'first', tags: ['a', 'b'] },
        { _id: 'second', tags: ['c'] },
        { _id: 'reader', wanted: ['c', 'b', 'a'] },
      ]);
      const [reader] = await pages.filter({ _id: 'reader' }, including({ found: true }));
      expect(names((reader as never as { found: [] }).found)).toEqual(['first', 'second']);
    });

    test('counts where, sort, skip, limit, select and archived for each document', async () => {
      await all.visits.archive('v4');
      const options = { where: { at: { $gte: 1 } }, sort: { at: 1 }, skip: 1, limit: 1 };
      const include = { visits: { ...options, select: ['at'], archived: true } };
      const found = await all.jobs.filter({}, including(include, { sort: { _id: -1 }, limit: 3 }));
      expect(found).toMatchObject([
        { _id: 'j4', visits: [] },
        { _id: 'j3', visits: [] },
        { _id: 'j2', visits: [] },
      ]);
      const [first] = await all.jobs.filter({ _id: 'j1' }, including(include));
      expect(first).toMatchObject({ visits: [{ _id: 'v4', at: 2 }] });
      expect((first as never as { visits: object[] }).visits).toEqual([{ _id: 'v4', at: 2 }]);
      const [without] = await all.jobs.filter({ _id: 'j1' }, including({ visits: true }));
      expect(names((without as never as { visits: [] }).visits)).toEqual(['v1', 'v2']);
    });

    test('reaches into partners, and back', async () => {
      const include = {
        visits: { include: { technician: true, job: { include: { customer: true } } } },
      };
      expect(await all.jobs.find({ _id: 'j1' }, including(include))).toMatchObject({
        visits: [
          { _id: 'v1', technician: { name: 'Tim' }, job: { _id: 'j1', customer: { name: 'Ada' } } },
          { _id: 'v2', technician: { name: 'Tom' } },
          { _id: 'v4', technician: null },
        ],
      });
    });

    test('goes with get and getMany, archived or not', async () => {
      await all.jobs.archive('j1');
      const options = including({ customer: true });
      expect(await all.jobs.get('j1', options)).toMatchObject({ customer: { name: 'Ada' } });
      expect(await all.jobs.get('nobody', options)).toBeUndefined();
      const found = await all.jobs.getMany(['j2', 'nobody', 'j1', 'j2'], options);
      expect(found).toMatchObject([
        { _id: 'j2', customer: { name: 'Bob' } },
        undefined,
        { _id: 'j1', customer: { name: 'Ada' } },
        { _id: 'j2', customer: { name: 'Bob' } },
      ]);
      expect(found[0]).not.toBe(found[3]);
      // An index is no options.
      expect(
        await Promise.all(['j1', 'j2'].map(all.jobs.get.bind(all.jobs) as never)),
      ).toHaveLength(2);
    });

    test('goes with each, select, functions and paging', async () => {
      const seen: unknown[] = [];
      for await (const job of all.jobs.each({ status: 'open' }, including({ customer: true })))
        seen.push((job as never as { customer: { name: string } }).customer.name);
      expect(seen).toEqual(['Ada', 'Bob']);
      const options = including(
        { customer: { select: ['name'] } },
        { select: ['status'], limit: 1, where: ({ _id }: { _id: string }) => _id !== 'j1' },
      );
      expect(await all.jobs.filter((job) => job.status === 'open', options)).toEqual([
        { _id: 'j2', status: 'open', customer: { _id: 'bob', name: 'Bob' } },
      ]);
      const bare = including({ customer: true }, { select: { _id: 0, status: 1 } });
      expect(await all.jobs.find({ _id: 'j2' }, bare)).toEqual({
        status: 'open',
        customer: await all.customers.get('bob'),
      });
    });

    const hasSync = fixture.caching && fixture.kind.engine === 'thread';
    if (hasSync)
      test('goes with sync, once their code is there', async () => {
        const { jobs, customers } = all;
        await Promise.all([jobs.ready, customers.ready]);
        const include = including({ customer: true, visits: { sort: { at: 1 }, limit: 1 } });
        const found = await jobs.filter({}, include);
        const one = { _id: 'j1' };
        expect(jobs.sync.filter({}, include)).toEqual(found);
        expect(jobs.sync.find(one, include)).toEqual(await jobs.find(one, include));
        expect(jobs.sync.get('j1', include)).toEqual(await jobs.get('j1', include));
        expect(jobs.sync.count({ visits: { $some: {} } } as never)).toBe(
          await jobs.count({ visits: { $some: {} } } as never),
        );
        const from = customers.name;
        const lookup = { from, localField: 'customer_id', foreignField: '_id', as: 'customer' };
        const pipeline = [{ $lookup: lookup }];
        const made = await jobs.aggregate(pipeline);
        expect(jobs.sync.aggregate(pipeline)).toEqual(made);
      });

    test('gives each document partners of its own', async () => {
      await all.jobs.patchMany({}, { customer_id: 'ada' });
      const [one, other] = (await all.jobs.filter({}, including({ customer: true }))) as never as {
        customer: Customer;
      }[];
      if (one) one.customer.name = 'mine';
      expect(other?.customer.name).toBe('Ada');
    });

    test('compares values as criteria do', async () => {
      const time = new Date(5);
      await all.jobs.insertMany([
        { _id: 'number', status: '', customer_id: 7 },
        { _id: 'date', status: '', customer_id: new Date(5) },
        { _id: 'object', status: '', customer_id: { a: 1 } },
        { _id: 'null', status: '', customer_id: null },
      ]);
      const things: DocumentCollection<{ key?: unknown }> = fixture.documents({ name: 'keys' });
      await things.insertMany([
        { _id: '7', key: 7n },
        { _id: 'time', key: [time] },
        { _id: 'object', key: { a: 1 } },
        { _id: 'text', key: '7' },
        { _id: 'nothing', key: null },
        { _id: 'missing' },
      ]);
      const again = fixture.documents<Job>({
        name: 'jobs',
        relations: { keys: { many: () => things, from: 'customer_id', to: 'key' } },
      });
      const found = await again.filter({ status: '' }, including({ keys: true }));
      expect(found.map((job) => names((job as never as { keys: [] }).keys))).toEqual([
        ['7'],
        ['time'],
        ['object'],
        [],
      ]);
    });

    test('sees its own changes and those of a transaction', async () => {
      const seen = await fixture.db.transaction(async (tx) => {
        await tx(all.customers).patch('ada', { name: 'Eve' });
        await tx(all.jobs).patch('j2', { customer_id: 'ada' });
        return tx(all.jobs).filter({ status: 'open' }, including({ customer: true }));
      });
      expect(seen).toMatchObject([{ customer: { name: 'Eve' } }, { customer: { name: 'Eve' } }]);
      const inserting = all.visits.insertMany(
        Array.from({ length: 3 }, (_, at) => ({ _id: `n${at}`, job_id: 'j3', at, done: false })),
      );
      const found = await all.jobs.find({ _id: 'j3' }, including({ visits: true }));
      expect(names((found as never as { visits: [] }).visits)).toEqual(['n0', 'n1', 'n2']);
      await inserting;
    });

    test('reads a backup with the partners of today', async () => {
      const backup = await all.jobs.createBackup();
      await all.jobs.deleteMany({});
      const view = all.jobs.at(backup);
      expect(await view.filter({ status: 'open' }, including({ customer: true }))).toMatchObject([
        { customer: { name: 'Ada' } },
        { customer: { name: 'Bob' } },
      ]);
      await view.close();
    });

    test('works after a reload', async () => {
      await fixture.reopen();
      all = collections();
      const found = await all.jobs.filter(
        { visits: { $some: { done: false } } } as never,
        including({ customer: true, visits: { limit: 1 } }),
      );
      expect(found).toMatchObject([{ _id: 'j1', customer: { name: 'Ada' }, visits: [{ at: 3 }] }]);
    });

    test('streams more partners than a chunk has', async () => {
      const count = 9000;
      await all.visits.insertMany(
        Array.from({ length: count }, (_, at) => ({ job_id: `j${(at % 2) + 1}`, at, done: true })),
      );
      const found = await all.jobs.filter({}, including({ visits: { where: { done: true } } }));
      expect(found.map((job) => (job as never as { visits: [] }).visits.length)).toEqual([
        count / 2 + 1,
        count / 2 + 1,
        0,
        0,
      ]);
    });
  });

  describe('conditions on partners', () => {
    test('$some, $none and $every', async () => {
      expect(await find({ visits: { $some: { done: false } } })).toEqual(['j1']);
      expect(await find({ visits: { $none: { done: false } } })).toEqual(['j2', 'j3', 'j4']);
      expect(await find({ visits: { $every: { done: true } } })).toEqual(['j2', 'j3', 'j4']);
      expect(await find({ visits: { $some: { done: true }, $none: { at: 1 } } })).toEqual(['j2']);
      expect(await find({ customer: { $none: { blocked: true } } })).toEqual(['j2', 'j3', 'j4']);
      expect(await find({ technicians: { $some: { name: 'Tom' } } })).toEqual(['j1']);
    });

    test('combine with each other and all else', async () => {
      const tom = { technician: { $some: { name: 'Tom' } } };
      expect(await find({ visits: { $some: { done: true, ...tom } } })).toEqual(['j2']);
      const either = { $or: [{ customer: { $some: { name: 'Bob' } } }, { _id: 'j4' }] };
      expect(await find(either)).toEqual(['j2', 'j4']);
      expect(await find({ status: 'open', $nor: [either] })).toEqual(['j1']);
      expect(await all.jobs.count({ visits: { $some: {} } } as never)).toBe(2);
      expect(await all.jobs.has({ visits: { $some: { at: 9 } } } as never)).toBe(false);
    });

    test('do not count archived partners', async () => {
      await all.visits.archive('v3');
      expect(await find({ visits: { $some: { done: true } } })).toEqual(['j1']);
    });

    test('choose what changes', async () => {
      const { jobs } = all;
      const undone = { visits: { $some: { done: false } } } as never;
      expect(await jobs.patchMany(undone, { status: 'late' })).toBe(1);
      expect(await find({ status: 'late' })).toEqual(['j1']);
      const bobs = { customer: { $some: { name: 'Bob' } } } as never;
      expect(await jobs.patchOne(bobs, { status: 'new' })).toMatchObject({ _id: 'j2' });
      expect(await jobs.deleteOne({ visits: { $none: {} } } as never)).toMatchObject({ _id: 'j3' });
      expect(await jobs.deleteMany({ customer: { $none: {} } } as never)).toBe(1);
      expect(await find({})).toEqual(['j1', 'j2']);
      await fixture.db.transaction(async (tx) => {
        await tx(all.visits).deleteMany({ job_id: 'j1' });
        expect(await tx(jobs).deleteMany({ visits: { $none: {} } } as never)).toBe(1);
      });
      expect(await find({})).toEqual(['j2']);
    });

    test('a transaction that has read partners conflicts with their changes', async () => {
      let runs = 0;
      await fixture.db.transaction(async (tx) => {
        const found = await tx(all.jobs).filter({ visits: { $some: { done: false } } } as never);
        if (++runs === 1) await all.visits.patchMany({}, { done: true });
        await tx(all.jobs).patch('j4', { status: `${found.length}` });
      });
      expect(runs).toBe(2);
      expect(await all.jobs.get('j4')).toMatchObject({ status: '0' });
    });

    test('explain names the plans, the first side and the index that is missing', async () => {
      const { jobs } = all;
      const explained = await jobs.explain(
        { customer_id: 'ada', visits: { $some: { done: false } } } as never,
        including({ technicians: true, visits: { include: { technician: true } } }),
      );
      expect(explained.returned).toBe(1);
      expect(explained.relations).toMatchObject([
        { relation: 'visits', use: '$some', first: 'partners', returned: 2 },
        { relation: 'technicians', use: 'include', plan: { kind: 'ids' } },
        { relation: 'visits', use: 'include', returned: 3 },
        { relation: 'visits.technician', plan: { kind: 'ids' } },
      ]);
      const again = fixture.documents<Customer>({
        name: 'customers',
        relations: { jobs: { many: () => jobs, to: 'customer_id' } },
      });
      const { relations } = await again.explain({}, including({ jobs: true }));
      expect(relations).toMatchObject([{ relation: 'jobs', missing_index: 'customer_id' }]);
    });

    test('the documents come first where they are fewer', async () => {
      const count = 400;
      await all.visits.insertMany(
        Array.from({ length: count }, (_, at) => ({ job_id: `x${at}`, at, done: false })),
      );
      const criteria = { _id: { $in: ['j1', 'j2'] }, visits: { $some: { done: false } } };
      const { relations } = await all.jobs.explain(criteria as never);
      expect(relations).toMatchObject([{ first: 'documents', plan: { kind: 'index' } }]);
      expect(await find(criteria)).toEqual(['j1']);
      const none = { _id: { $in: ['j1', 'j2'] }, visits: { $none: { done: false } } };
      expect(await find(none)).toEqual(['j2']);
    });

    test('choose what a pipeline begins with, and distinct values', async () => {
      const { jobs, visits } = all;
      const open = { visits: { $some: { done: false } } };
      const pipeline = [
        { $match: { status: 'open' } },
        { $match: { $or: [open, { customer: { $some: { name: 'Bob' } } }] } },
        { $group: { _id: '$status', ids: { $push: '$_id' } } },
      ];
      expect(await jobs.aggregate(pipeline)).toEqual([{ _id: 'open', ids: ['j1', 'j2'] }]);
      const idle = { visits: { $none: {} } } as never;
      expect(await jobs.distinct('_id', idle)).toEqual(['j3', 'j4']);
      expect(await jobs.distinct('status', open as never, { archived: true })).toEqual(['open']);
      const looked = [
        { $match: open },
        { $lookup: { from: visits.name, localField: '_id', foreignField: 'job_id', as: 'of' } },
        { $project: { _id: 0, count: { $size: '$of' } } },
      ];
      expect(await jobs.aggregate(looked)).toEqual([{ count: 3 }]);
      const { relations, stages } = await jobs.explain(looked);
      expect(relations).toMatchObject([
        { relation: 'visits', use: '$some' },
        { relation: 'pipeline[1].$lookup', use: '$lookup' },
      ]);
      expect(stages?.map(({ live }) => live)).toEqual(['again', 'again', 'again']);
      await fixture.db.transaction(async (tx) => {
        await tx(visits).insert({ _id: 'v5', job_id: 'j4', at: 1, done: false });
        expect(await tx(jobs).distinct('_id', open as never)).toEqual(['j1', 'j4']);
        expect(await tx(jobs).aggregate([{ $match: open }, { $count: 'n' }])).toEqual([{ n: 2 }]);
      });
      expect(await rejection(jobs.aggregate([{ $match: { visits: { $any: {} } } }]))).toMatchObject(
        { code: 'operator_unknown' },
      );
      const unknown = { $match: { visits: { $some: { job: { $some: 5 } } } } };
      expect(await rejection(jobs.aggregate([unknown]))).toMatchObject({
        place: 'pipeline[0].$match.visits.$some.job.$some',
      });
    });
  });

  describe('live', () => {
    test('a pipeline with conditions on partners follows both collections', async () => {
      const { jobs, visits } = all;
      const query = jobs.liveAggregate([
        { $match: { visits: { $some: { done: false } } } },
        { $group: { _id: null, ids: { $push: '$_id' } } },
      ]);
      const log = new LiveLog(query);
      const ids = (expected: string[]) =>
        log.until((data) => String(data[0]?.ids ?? '') === String(expected));
      await ids(['j1']);
      await visits.patch('v3', { done: false });
      await ids(['j1', 'j2']);
      await jobs.delete('j1');
      await ids(['j2']);
      await visits.deleteMany({});
      await ids([]);
      log.stop();
    });

    type Shown = Job & {
      _id: string;
      customer: Customer | null;
      visits: (Visit & { _id: string })[];
    };
    const live = (criteria: object, options: object) =>
      all.jobs.live(criteria as never, options as never) as unknown as LiveQuery<readonly Shown[]>;

    test('a change of a partner reaches the documents of its old and its new value', async () => {
      const query = live({}, including({ customer: true, visits: { sort: { at: 1 } } }));
      const log = new LiveLog(query);
      const before = (await query.ready).data;
      expect(before).toEqual(
        await all.jobs.filter({}, including({ customer: true, visits: { sort: { at: 1 } } })),
      );
      const emitted = log.snapshots.length;
      await all.visits.patch('v1', { job_id: 'j3' });
      const { data = [] } = query.getSnapshot();
      expect(data.map(({ visits }) => names(visits))).toEqual([['v2', 'v4'], ['v3'], ['v1'], []]);
      // The others stay the same objects, and partners that did not change too.
      expect(data[1]).toBe(before[1]);
      expect(data[3]).toBe(before[3]);
      expect(data[0]?.customer).toBe(before[0]?.customer);
      expect(data[0]?.visits[0]).toBe(before[0]?.visits[0]);
      expect(Object.isFrozen(data[0]?.visits[0])).toBe(true);
      // A change that it does not show.
      await all.customers.insert({ _id: 'eve', name: 'Eve' });
      expect(log.snapshots.length).toBe(emitted + 1);
      log.stop();
    });

    test('a transaction is one emission, whose parts agree', async () => {
      const query = live({ status: 'open' }, including({ customer: true }));
      const log = new LiveLog(query);
      await query.ready;
      const emitted = log.snapshots.length;
      await fixture.db.transaction(async (tx) => {
        await tx(all.jobs).patch('j1', { customer_id: 'bob' });
        await tx(all.customers).patch('bob', { name: 'Rob' });
        await tx(all.jobs).patch('j2', { customer_id: 'ada' });
        await tx(all.customers).delete('ada');
      });
      expect(query.getSnapshot().data?.map(({ customer }) => customer?.name)).toEqual([
        'Rob',
        undefined,
      ]);
      expect(log.snapshots.length).toBe(emitted + 1);
      log.stop();
    });

    test('two includes by one value, an array that loses one, moves, limits', async () => {
      const again = fixture.documents<Job>({
        name: 'jobs',
        relations: {
          first: { many: () => all.visits, to: 'job_id' },
          last: { many: () => all.visits, to: 'job_id' },
          technicians: { many: () => all.technicians, from: 'technician_ids' },
        },
      });
      const options = including({
        first: { sort: { at: 1 }, limit: 1 },
        last: { sort: { at: -1 }, limit: 1 },
        technicians: true,
      });
      const query = again.live({}, options);
      const log = new LiveLog(query);
      await query.ready;
      const check = async () =>
        expect(query.getSnapshot().data).toEqual(await again.filter({}, options));
      for (const change of [
        () => all.visits.patch('v2', { at: 9 }),
        () => all.visits.delete('v1'),
        () => again.patch('j1', { technician_ids: ['t1'] }),
        () => all.visits.archive('v4'),
        () => all.visits.deleteMany({}),
        () => all.technicians.patch('t1', { name: 'Tina' }),
        () => again.deleteMany({ status: 'done' }),
        () => all.visits.insertMany([{ job_id: 'j2', at: 1, done: true }]),
      ]) {
        await change();
        await check();
      }
      log.stop();
    });

    test('conditions on partners decide anew', async () => {
      const criteria = { visits: { $some: { done: false } } };
      const query = live(criteria, {});
      const count = all.jobs.liveCount(criteria as never);
      const logs = [new LiveLog(query), new LiveLog(count)];
      await Promise.all([query.ready, count.ready]);
      const shown = () => [names(query.getSnapshot().data), count.getSnapshot().data];
      expect(shown()).toEqual([['j1'], 1]);
      await all.visits.patch('v3', { done: false });
      expect(shown()).toEqual([['j1', 'j2'], 2]);
      await all.visits.deleteMany({ job_id: 'j1' });
      expect(shown()).toEqual([['j2'], 1]);
      for (const log of logs) log.stop();
    });

    test('liveDocument takes include', async () => {
      const query = all.jobs.liveDocument('j1', including({ customer: true })) as LiveQuery<
        Shown | undefined
      >;
      const log = new LiveLog(query);
      expect((await query.ready).data).toMatchObject({ _id: 'j1', customer: { name: 'Ada' } });
      await all.customers.patch('ada', { name: 'Ava' });
      expect(query.getSnapshot().data?.customer?.name).toBe('Ava');
      await all.jobs.archive('j1');
      expect(query.getSnapshot().data).toMatchObject({
        _archived: true,
        customer: { name: 'Ava' },
      });
      await all.jobs.delete('j1');
      expect(query.getSnapshot().data).toBeUndefined();
      log.stop();
    });

    test('a restored backup of partners shows, and a drop is an error', async () => {
      const customers = fixture.documents<Customer>({
        name: 'customers',
        activate_drop_method: true,
      });
      const backup = await customers.createBackup();
      await customers.patch('ada', { name: 'Other' });
      const query = live({ _id: 'j1' }, including({ customer: { select: ['name'] } }));
      const log = new LiveLog(query);
      await log.until(([job]) => job?.customer?.name === 'Other');
      await customers.loadBackup(backup);
      await log.until(([job]) => job?.customer?.name === 'Ada');
      await customers.Drop();
      expect(await log.error()).toMatchObject({ code: 'collection_dropped' });
      log.stop();
    });

    test('with patterns, functions and throttle', async () => {
      const options = including({ customer: { where: { name: /^.+a$/i } } }, { throttle: 1 });
      const query = live({}, { ...(options as object), where: ({ _id }: Shown) => _id < 'j3' });
      const log = new LiveLog(query);
      const shows = (...expected: unknown[]) =>
        log.until((data) => `${data.map(({ customer }) => customer?.name)}` === `${expected}`);
      await shows('Ada', undefined);
      await all.customers.patch('bob', { name: 'Boba' });
      await shows('Ada', 'Boba');
      log.stop();
    });

    test('bad relations are errors of the query', async () => {
      const query = live({}, including({ nothing: true }));
      expect(await rejection(query.ready)).toMatchObject({ code: 'relation_invalid' });
      const { customers } = all;
      expect(() => customers.live({}, including({ jobs: true }))).toThrow('include');
    });
  });

  describe('bad relations', () => {
    const withRelations = (relations: unknown, name = 'jobs') =>
      fixture.documents({ name, relations: relations as RelationOptions });

    test('are typed errors that name the relation', async () => {
      const { jobs } = all;
      expect(await rejection(jobs.filter({}, including({ custmer: true })))).toMatchObject({
        code: 'relation_invalid',
        place: 'include.custmer',
        message: expect.stringContaining('did you mean "customer"?') as unknown,
      });
      const values = fixture.keyValues();
      for (const [relation, why] of [
        [{ one: () => values }, 'KEY_VALUE_BASED'],
        [{ one: () => undefined }, 'return a collection'],
        [
          {
            one: () => {
              throw new Error('of the app');
            },
          },
          'of the app',
        ],
      ] as const) {
        const made = withRelations({ partner: relation });
        const error = await rejection(made.filter({}, including({ partner: true })));
        expect(error).toMatchObject({ code: 'relation_invalid' });
        expect(error.message).toContain(why);
      }
      const other = new fixture.lib.Database({ name: fixture.nameOf('other'), storage: 'memory' });
      const foreign = new other.Collection({ name: 'foreign', type: 'DOCUMENT_BASED' });
      const strange = withRelations({ partner: { one: () => foreign } });
      expect(await rejection(strange.count({ partner: { $some: {} } } as never))).toMatchObject({
        code: 'relation_invalid',
        place: 'partner',
        message: expect.stringContaining('another database') as unknown,
      });
      await other.close();
    });

    test('each relation is checked as its collection gets ready, and its place named', async () => {
      const { customers } = all;
      const one = () => customers;
      for (const relations of [
        { partner: undefined },
        { partner: {} },
        { partner: one },
        { partner: { one: customers } },
        { partner: { one, many: one } },
        { partner: { one, from: 'a..b' } },
        { partner: { one, to: 5 } },
        { partner: { one, by: 'a' } },
        { ok: { one }, 'a.b': { one } },
        { ok: { one }, $a: { one } },
        { _id: { one } },
      ]) {
        const error = await rejection(withRelations(relations).ready);
        const place = `relations.${Object.keys(relations).at(-1)}`;
        expect(error).toMatchObject({ code: 'relation_invalid', place });
      }
    });

    test('include is unknown to a collection without relations', async () => {
      const { customers } = all;
      const options = including({ job: true });
      const unknown = { code: 'option_unknown', place: 'include' };
      expect(await rejection(customers.filter({}, options))).toMatchObject(unknown);
      expect(await rejection(customers.get('ada', options))).toMatchObject(unknown);
      expect(await rejection(customers.getMany(['ada'], options))).toMatchObject(unknown);
      const live = customers.liveDocument('ada', options);
      expect(await rejection(live.ready)).toMatchObject(unknown);
      expect((await Promise.all(['ada'].map(customers.get, customers)))[0]).toBeDefined();
    });

    test('an include is at most 5 levels deep', async () => {
      const deep = (levels: number): object => ({
        [levels % 2 ? 'job' : 'visits']: levels > 1 ? { include: deep(levels - 1) } : true,
      });
      const { jobs } = all;
      await jobs.filter({}, including({ visits: { include: deep(3) } }));
      const error = await rejection(jobs.filter({}, including({ visits: { include: deep(5) } })));
      expect(error).toMatchObject({ code: 'include_too_deep' });
    });

    test('a sort by partners is refused, and one by the field of their ids is none', async () => {
      const { jobs, visits } = all;
      const byName = { sort: { 'customer.name': 1 } };
      const refused = { code: 'sort_invalid', place: 'sort.customer.name' };
      const calls = [
        jobs.filter({}, including({ customer: true }, byName)),
        jobs.find({}, including({ customer: true }, byName)),
        jobs.live({}, including({ customer: true }, byName)).ready,
      ];
      for (const call of calls) expect(await rejection(call)).toMatchObject(refused);
      const inner = { visits: { sort: { 'job.status': 1 }, include: { job: true } } };
      expect(await rejection(jobs.filter({}, including(inner)))).toMatchObject({
        code: 'sort_invalid',
        place: 'include.visits.sort.job.status',
      });
      await jobs.filter({}, including({ customer: true }, { sort: { customer_id: 1 } }));
      await visits.filter({}, including({ technician: true }, { sort: { technician: 1 } }));
    });

    test('bad criteria and options of partners name their place', async () => {
      const { jobs } = all;
      for (const [include, code] of [
        [{ visits: { limt: 1 } }, 'option_unknown'],
        [{ visits: { limit: -1 } }, 'option_invalid'],
        [{ customer: { limit: 1 } }, 'option_unknown'],
        [{ visits: { where: { at: { $foo: 1 } } } }, 'operator_unknown'],
        [{ visits: { where: () => true } }, 'criteria_invalid'],
        [{ visits: { sort: { at: 2 } } }, 'sort_invalid'],
        ['visits', 'relation_invalid'],
      ] as const)
        expect(await rejection(jobs.filter({}, including(include as object)))).toMatchObject({
          code,
        });
      for (const [criteria, code] of [
        [{ visits: { $some: 1 } }, 'operand_invalid'],
        [{ visits: { $some: {}, at: 1 } }, 'operator_unknown'],
        [{ status: { $some: {} } }, 'operator_unknown'],
        [{ $related: {} }, 'operator_unknown'],
        [{ visits: { $some: { at: { $foo: 1 } } } }, 'operator_unknown'],
      ] as const)
        expect(await rejection(jobs.filter(criteria as never))).toMatchObject({ code });
      const upsert = jobs.patchOne({ visits: { $some: {} } } as never, {}, { upsert: true });
      expect(await rejection(upsert)).toMatchObject({ code: 'option_invalid', place: 'upsert' });
      expect(await find({})).toHaveLength(4);
    });
  });
}
