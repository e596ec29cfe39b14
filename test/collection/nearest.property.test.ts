import { expect, test } from 'vitest';
import {
  type CairnError,
  Database,
  type DocumentCollection,
  type IndexOption,
  memoryDriver,
  type NearestOptions,
  type Stored,
} from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';

interface Thing {
  n: number;
  at?: unknown;
  pad?: string | undefined;
}

type Metric = 'cosine' | 'dot' | 'euclidean';
type Things = DocumentCollection<Thing>;

const DIMENSIONS = 3;
const IDS = 'abcdefgh'.split('');

/** Fills a segment by itself, so that segments are merged. */
const pad = 'p'.repeat(50_000);

const numbers = fc.array(fc.integer({ min: -2, max: 2 }), {
  minLength: DIMENSIONS,
  maxLength: DIMENSIONS,
});
const right = numbers.filter((list) => list.some((value) => value !== 0));
const vector = fc.oneof(
  { weight: 6, arbitrary: right },
  { weight: 4, arbitrary: right.map((list) => Float32Array.from(list)) },
  { weight: 2, arbitrary: fc.constantFrom(undefined, null) },
  { weight: 1, arbitrary: fc.constantFrom([1], 'text', [0, Number.NaN, 1], [0, 0, 0]) },
);
const id = fc.constantFrom(...IDS);
const thing = fc.record({
  n: fc.integer({ min: 0, max: 3 }),
  at: vector,
  pad: fc.constantFrom(pad, undefined),
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constant('upsert' as const), id, thing }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('insertMany' as const), id, thing }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('patch' as const), id, thing }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('patchMany' as const), id, thing }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('transaction' as const), id, thing }) },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constantFrom('delete', 'archive', 'unarchive', 'save', 'backup', 'load', 'reopen'),
      id,
      thing: fc.constant(undefined),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const question = fc.record({
  query: right,
  k: fc.integer({ min: 1, max: 6 }),
  criteria: fc.constantFrom({}, { n: { $gte: 2 } }, { n: 1 }, { pad: { $exists: true } }),
  archived: fc.constantFrom(true, false, 'only' as const),
});

function score(metric: Metric, a: readonly number[], b: readonly number[]): number {
  const sum = (of: (x: number, y: number) => number) =>
    a.reduce((total, x, at) => total + of(x, b[at] as number), 0);
  if (metric === 'euclidean') return 1 / (1 + Math.sqrt(sum((x, y) => (x - y) ** 2)));
  const dot = sum((x, y) => x * y);
  return metric === 'dot' ? dot : dot / (Math.hypot(...a) * Math.hypot(...b));
}

/** Whether the index has it, by the documentation. */
function isVector(at: unknown, metric: Metric): at is readonly number[] {
  if (!Array.isArray(at) && !(at instanceof Float32Array)) return false;
  const list = [...(at as number[])];
  const isZero = list.every((value) => value === 0);
  return (
    list.length === DIMENSIONS && list.every(Number.isFinite) && !(isZero && metric === 'cosine')
  );
}

class Subject {
  readonly #driver = memoryDriver();
  readonly #metric: Metric;
  readonly #indexes: IndexOption[];
  readonly #caching: boolean;
  readonly #backups: string[] = [];
  #db!: Database;
  things!: Things;

  constructor(metric: Metric, caching: boolean) {
    this.#metric = metric;
    this.#caching = caching;
    this.#indexes = ['n', { vector: 'at', dimensions: DIMENSIONS, metric }];
    this.open();
  }

  open(indexes = this.#indexes): void {
    this.#db = new Database({ name: 'nearest', storage: this.#driver });
    this.things = new this.#db.Collection<Thing>({
      ...{ name: 'things', type: 'DOCUMENT_BASED', caching: this.#caching, indexes },
      save_timeout: 3600,
    });
  }

  close(): Promise<void> {
    return this.#db.close();
  }

  /** A change is refused exactly where it would store a wrong vector. */
  async #change(at: unknown, call: Promise<unknown>): Promise<void> {
    const isWrong = at !== undefined && at !== null && !isVector(at, this.#metric);
    const code = await call.then(
      () => undefined,
      (error: CairnError) => error.code,
    );
    if (code !== 'id_taken') expect(code).toBe(isWrong ? 'vector_invalid' : undefined);
  }

  async perform({ op, id: _id, thing: given }: Step): Promise<void> {
    const { things } = this;
    const at = given?.at;
    switch (op) {
      case 'upsert':
        return this.#change(at, things.upsert({ _id, ...(given as Thing) }));
      case 'insertMany': {
        const many = Array.from({ length: 140 }, (_, n) => ({ ...(given as Thing), n, pad: '' }));
        await this.#change(at, things.insertMany(many));
        return void (await things.deleteMany({ n: { $gt: 3 } }));
      }
      case 'patch':
        if (await things.get(_id)) await this.#change(at, things.patch(_id, { at }));
        return;
      case 'patchMany':
        if ((await things.count({ n: 1 })) > 0)
          await this.#change(at, things.patchMany({ n: 1 }, { at }));
        return;
      case 'transaction':
        return this.#change(
          at,
          this.#db.transaction(async (tx) => {
            await tx(things).delete(_id);
            await tx(things).insert({ _id, ...(given as Thing) });
          }),
        );
      case 'save':
        return things.save();
      case 'backup':
        return void this.#backups.push(await things.createBackup());
      case 'load': {
        const name = this.#backups.at(-1);
        if (name) await things.loadBackup(name);
        return;
      }
      case 'reopen':
        await this.close();
        return this.open();
      default:
        await things[op as 'delete'](_id);
    }
  }

  async check({ query, k, criteria, archived }: Parameters<typeof expected>[0]): Promise<void> {
    const all = await this.things.filter(criteria, { archived });
    const right = expected({ query, k, criteria, archived }, all, this.#metric);
    const options: NearestOptions<Thing> = { k, criteria, archived };
    const found = await this.things.nearest(query, options);
    expect(found.map(({ score }) => score.toFixed(6))).toEqual(
      right.map(({ score }) => score.toFixed(6)),
    );
    for (const { document, score: own } of found) {
      expect(document).toEqual(all.find(({ _id }) => _id === document._id));
      expect(own).toBeCloseTo(score(this.#metric, [...(document.at as number[])], query), 6);
    }
    expect(new Set(found.map(({ document }) => document._id)).size).toBe(found.length);
  }
}

function expected(
  { query, k }: typeof question extends fc.Arbitrary<infer Q> ? Q : never,
  documents: readonly Stored<Thing>[],
  metric: Metric,
) {
  return documents
    .filter(({ at }) => isVector(at, metric))
    .map((document) => ({ document, score: score(metric, [...(document.at as number[])], query) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, k);
}

test.each(['cosine', 'dot', 'euclidean'] as const)(
  'nearest() is a brute force over filter() after any changes, by %s',
  async (metric) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 25 }),
        fc.array(question, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (steps, questions, caching) => {
          const subject = new Subject(metric, caching);
          for (const one of steps) {
            await subject.perform(one);
            for (const each of questions.slice(0, 1)) await subject.check(each);
          }
          for (const each of questions) await subject.check(each);
          await subject.perform({ op: 'reopen', id: 'a', thing: undefined });
          for (const each of questions) await subject.check(each);
          await subject.close();
        },
      ),
      runs(120),
    );
  },
);

test.each(['cosine', 'dot'] as const)(
  'an index that is declared later has the vectors of what is stored, by %s',
  async (metric) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(vector, fc.constantFrom(pad, undefined)), { maxLength: 20 }),
        question,
        async (vectors, asked) => {
          const subject = new Subject(metric, false);
          await subject.close();
          subject.open([]);
          await subject.things.insertMany(
            vectors.map(([at, own], n) => ({ n: n % 4, at, pad: own })),
          );
          await subject.things.save();
          await subject.close();
          subject.open();
          await subject.check(asked);
          await subject.close();
          subject.open();
          await subject.check(asked);
          await subject.close();
        },
      ),
      runs(60),
    );
  },
);
