import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { DocumentCollection, PipelineStage } from '../../src/index.ts';
import type { LiveQuery } from '../../src/page/live/live-query.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';
import { settled } from '../engine/fake-clock.ts';
import { fc, runs } from '../setup/properties.ts';

interface Fields {
  to?: string | readonly string[];
  n?: number;
  at?: Date;
}

type Found = Fields & { readonly _id: string; readonly _archived: boolean };
type Collection = DocumentCollection<Fields>;

const NAMES = ['people', 'jobs'] as const;
type Name = (typeof NAMES)[number];
const IDS = ['1', '2', '3', '4'];

const PIPELINES: Record<string, PipelineStage[]> = {
  looked: [
    { $match: { n: { $gte: 1 } } },
    { $lookup: { from: 'people', localField: 'to', foreignField: '_id', as: 'people' } },
    { $unwind: '$people' },
    { $group: { _id: '$people._id', n: { $sum: '$n' }, ids: { $push: '$_id' } } },
    { $sort: { _id: 1 } },
  ],
  both: [
    { $unionWith: 'people' },
    { $group: { _id: '$n', count: { $count: {} } } },
    { $sort: { _id: 1 } },
  ],
  kept: [{ $group: { _id: '$to', n: { $sum: '$n' }, count: { $count: {} } } }],
};

const id = fc.constantFrom(...IDS);
const name = fc.constantFrom(...NAMES);
const fields = fc.record(
  {
    to: fc.oneof(id, fc.array(id, { maxLength: 3 })),
    n: fc.nat(3),
    at: fc.nat(3).map((seconds) => new Date(1_700_000_000_000 + seconds * 20_000)),
  },
  { requiredKeys: ['n'] },
);

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('put' as const), name, id, fields }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('patch' as const), name, id, fields }) },
  fc.record({ kind: fc.constantFrom('delete' as const, 'archive', 'unarchive'), name, id }),
  fc.record({ kind: fc.constant('insertMany' as const), name, count: fc.constantFrom(2, 1500) }),
  fc.record({ kind: fc.constant('patchMany' as const), n: fc.nat(3) }),
  fc.record({ kind: fc.constant('deleteMany' as const), n: fc.nat(3) }),
  fc.record({
    kind: fc.constant('transaction' as const),
    changes: fc.array(fc.tuple(name, id, fc.option(fields)), { minLength: 2, maxLength: 4 }),
    fails: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('rest' as const), ms: fc.constantFrom(0, 10, 3000, 20_000) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'backup' as const,
        'load',
        'export',
        'import',
        'merge',
        'drop',
        'migrate',
      ),
      name,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reopen' as const),
      caching: fc.boolean(),
      saves: fc.boolean(),
    }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Two collections through their lives, with what relates them compared with nested loops. */
class Lives {
  readonly #driver = memoryDriver();
  #caching = true;
  #open = openClient(this.#driver, undefined, 1);
  readonly #versions: Record<Name, number> = { people: 1, jobs: 1 };
  readonly #backups: Record<Name, { name: string; version: number }[]> = { people: [], jobs: [] };
  readonly #files: Partial<Record<Name, { file: Blob; version: number }>> = {};
  #all = this.#declare();
  #live = this.#watch();

  #declare(): Record<Name, Collection> {
    const made = {} as Record<Name, Collection>;
    for (const one of NAMES) {
      const version = this.#versions[one];
      const migrate = Object.fromEntries(
        Array.from({ length: version - 1 }, (_, at) => [
          at + 2,
          (old: Fields) => ({ ...old, n: (old.n ?? 0) + 1 }),
        ]),
      );
      made[one] = new this.#open.client.Collection<Fields>({
        ...{ name: one, type: 'DOCUMENT_BASED', caching: this.#caching },
        activate_drop_method: true,
        indexes: ['n', 'to'],
        expire_after: 'at',
        relations: {
          owners: { many: () => made.people, from: 'to' },
          jobs: { many: () => made.jobs, to: 'to' },
        } as never,
        ...(version > 1 && { version, migrate: migrate as never }),
      }) as never;
    }
    return made;
  }

  #watch() {
    const { jobs, people } = this.#all;
    const include = { owners: { include: { jobs: { sort: { n: -1 }, limit: 2 } } } };
    const lists: LiveQuery<unknown>[] = [
      jobs.live({}, { include } as never),
      people.live({ jobs: { $some: { n: { $gte: 1 } } } } as never, { sort: { n: 1 } }),
      jobs.liveCount({ owners: { $none: { n: 2 } } } as never),
      ...Object.values(PIPELINES).map((pipeline) => jobs.liveAggregate(pipeline)),
    ] as never;
    const stops = lists.map((live) => live.subscribe(() => undefined));
    return { lists, stop: () => stops.map((stop) => stop()) };
  }

  async #hear<T>(promise: Promise<T>, what: string): Promise<T> {
    let isOver = false;
    const ended = promise.finally(() => {
      isOver = true;
    });
    ended.catch(() => undefined);
    for (let turn = 0; !isOver && turn < 5000; turn++) {
      if (turn > 500) await new Promise((resolve) => setTimeout(resolve, 1));
      await settled();
      if (turn % 20 === 19) await this.#open.clock.advance(20);
    }
    if (!isOver) throw new Error(`no answer: ${what}`);
    return ended;
  }

  async #again(): Promise<void> {
    this.#live.stop();
    this.#all = this.#declare();
    this.#live = this.#watch();
  }

  async take(step: Step): Promise<void> {
    const all = this.#all;
    const hear = <T>(promise: Promise<T>) => this.#hear(promise, step.kind);
    switch (step.kind) {
      case 'put':
        return void (await hear(all[step.name].upsert({ _id: step.id, ...step.fields })));
      case 'patch':
        return void (await hear(all[step.name].patch(step.id, step.fields as never)));
      case 'delete':
      case 'archive':
      case 'unarchive':
        return void (await hear(all[step.name][step.kind](step.id)));
      case 'insertMany': {
        const many = Array.from({ length: step.count }, (_, n) => ({ n: n % 4, to: IDS[n % 5] }));
        return void (await hear(all[step.name].insertMany(many as never)));
      }
      case 'patchMany':
        return void (await hear(
          all.jobs.patchMany({ owners: { $some: { n: step.n } } } as never, { n: 3 }),
        ));
      case 'deleteMany':
        return void (await hear(
          all.people.deleteMany({ n: step.n, jobs: { $none: { n: 1 } } } as never),
        ));
      case 'transaction': {
        const done = this.#open.client.transaction(async (tx) => {
          for (const [name, _id, one] of step.changes)
            await (one ? tx(all[name]).upsert({ _id, ...one }) : tx(all[name]).delete(_id));
          if (step.fails) throw new Error('back');
        });
        return void (await hear(done.catch(() => undefined)));
      }
      case 'rest':
        if (step.ms > 0) await hear(all.jobs.save());
        return this.#open.clock.advance(step.ms);
      case 'backup': {
        const name = await hear(all[step.name].createBackup());
        return void this.#backups[step.name].push({ name, version: this.#versions[step.name] });
      }
      case 'load': {
        const last = this.#backups[step.name].at(-1);
        if (!last) return;
        return void (await hear(all[step.name].loadBackup(last.name)));
      }
      case 'export': {
        const name = await hear(all[step.name].createBackup());
        const stream = await hear(all[step.name].exportBackup(name));
        const file = await hear(new Response(stream).blob());
        this.#files[step.name] = { file, version: this.#versions[step.name] };
        return;
      }
      case 'import':
      case 'merge': {
        const mode = step.kind === 'merge' ? 'merge' : 'replace';
        const last = this.#files[step.name];
        return void (last && (await hear(all[step.name].importBackup(last.file, { mode }))));
      }
      case 'drop':
        await hear(all[step.name].Drop());
        this.#backups[step.name].length = 0;
        return this.#again();
      case 'migrate':
        this.#versions[step.name]++;
        return this.#again();
      case 'reopen':
        if (step.saves) await hear(this.#open.client.save());
        this.#live.stop();
        await hear(this.#open.client.close());
        this.#caching = step.caching;
        this.#open = openClient(this.#driver, this.#open.clock, 1);
        this.#all = this.#declare();
        this.#live = this.#watch();
    }
  }

  async check(): Promise<void> {
    const { jobs, people } = this.#all;
    const include = { owners: { include: { jobs: { sort: { n: -1 }, limit: 2 } } } };
    const fresh = await this.#hear(
      Promise.all([
        jobs.filter({}, { include } as never),
        people.filter({ jobs: { $some: { n: { $gte: 1 } } } } as never, { sort: { n: 1 } }),
        jobs.count({ owners: { $none: { n: 2 } } } as never),
        ...Object.values(PIPELINES).map((pipeline) => jobs.aggregate(pipeline)),
        jobs.filter({}),
        people.filter({}),
      ]),
      'fresh',
    );
    const [allPeople, allJobs] = [fresh.pop(), fresh.pop()] as unknown as [Found[], Found[]];
    const naive = loops(allJobs, allPeople);
    for (const [at, expected] of naive.entries())
      if (expected) expect([at, fresh[at]]).toEqual([at, expected]);
    for (const [at, live] of this.#live.lists.entries()) {
      for (let turn = 0; turn < 400; turn++) {
        const { data, error } = live.getSnapshot();
        if (error) throw error;
        if (isDeepStrictEqual(data, fresh[at])) break;
        await this.#open.clock.advance(5);
        await settled();
      }
      expect([at, live.getSnapshot().data]).toEqual([at, fresh[at]]);
    }
  }

  async end(): Promise<void> {
    this.#live.stop();
    await this.#hear(this.#open.client.close(), 'close');
  }
}

/** What the queries find, by loops. */
function loops(jobs: readonly Found[], people: readonly Found[]): unknown[] {
  const ownersOf = ({ to = [] }: Found) => people.filter(({ _id }) => [to].flat().includes(_id));
  const jobsOf = ({ _id }: Found) => jobs.filter(({ to = [] }) => [to].flat().includes(_id));
  const byN = (a: Found, b: Found) => (b.n ?? -1) - (a.n ?? -1);
  return [
    jobs.map((job) => ({
      ...job,
      owners: ownersOf(job).map((one) => ({ ...one, jobs: jobsOf(one).sort(byN).slice(0, 2) })),
    })),
    people.filter((one) => jobsOf(one).some(({ n = 0 }) => n >= 1)).sort((a, b) => -byN(a, b)),
    jobs.filter((job) => !ownersOf(job).some(({ n }) => n === 2)).length,
    people
      .map(({ _id }) => {
        const own = jobs.filter((job) => (job.n ?? 0) >= 1 && [job.to ?? []].flat().includes(_id));
        return {
          _id,
          n: own.reduce((sum, { n = 0 }) => sum + n, 0),
          ids: own.map((one) => one._id),
        };
      })
      .filter(({ ids }) => ids.length > 0)
      .sort((a, b) => (a._id < b._id ? -1 : 1)),
  ];
}

test('what relates collections is right, whatever happens to each of them', async () => {
  const run = async (steps: readonly Step[]) => {
    const lives = new Lives();
    for (const step of steps) {
      await lives.take(step);
      await lives.check();
    }
    await lives.end();
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), run), {
    ...runs(80),
    endOnFailure: true,
  });
});
