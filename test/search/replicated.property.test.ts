import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { Database, type IndexOption, type StorageDriver } from '../../src/index.ts';
import { http, replicate } from '../../src/replication/index.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { fc, runs } from '../setup/properties.ts';

interface Job {
  owner?: string;
  state?: string;
  text?: string;
  at?: number[];
}

const WORDS = ['heavy', 'water', 'atom'];
const INDEXES: IndexOption[] = [
  { text: { text: 1, owner: 2 } },
  { vector: 'at', dimensions: 2, metric: 'euclidean' },
];

const id = fc.nat(9).map((n) => `j${n}`);
const job: fc.Arbitrary<Job> = fc.record(
  {
    owner: fc.constantFrom('ada', 'ben'),
    state: fc.constantFrom('open', 'done'),
    text: fc.array(fc.constantFrom(...WORDS), { maxLength: 3 }).map((words) => words.join(' ')),
    at: fc.tuple(fc.nat(5), fc.nat(5)).map((pair): number[] => pair),
  },
  { requiredKeys: [] },
);
const scope = fc.constantFrom({ owner: 'ada' }, { owner: 'ben' }, { state: 'open' });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('theirs' as const), id, job }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('mine' as const), id, job }) },
  fc.record({ kind: fc.constantFrom('gone' as const, 'delete', 'archive'), id }),
  fc.record({ kind: fc.constantFrom('add' as const, 'remove'), scope }),
  fc.record({ kind: fc.constantFrom('backup' as const, 'load', 'save', 'clear') }),
  fc.record({
    kind: fc.constant('reopen' as const),
    caching: fc.boolean(),
    indexed: fc.boolean(),
  }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A device whose jobs come from a server, by scopes. */
class Phone {
  readonly #driver: StorageDriver = memoryDriver();
  readonly #store = memory();
  readonly #name = crypto.randomUUID();
  #pushes = 0;
  #backup: string | undefined;
  #indexed = true;
  #device = this.#open(true);

  #open(caching: boolean) {
    const db = new Database({ name: this.#name, storage: this.#driver });
    const jobs = new db.Collection<Job>({
      ...{ name: 'jobs', type: 'DOCUMENT_BASED', caching },
      indexes: this.#indexed ? INDEXES : [],
    });
    const handler = createHandler({
      ...{ store: this.#store, authorize: () => true, hold: 20 },
      scopes: { owner: (owner) => ({ owner }), state: (state) => ({ state }) },
    });
    const fetch = async (url: string, init: RequestInit) => handler(new Request(url, init));
    const remote = http({ url: 'https://example.com/jobs', fetch: fetch as never });
    const sync = replicate(jobs, { remote, scopes: [{ owner: 'ada' }] as never });
    return { db, jobs, sync };
  }

  async #write(of: string, fields: object | undefined): Promise<void> {
    const [row] = await this.#store.read('jobs', [of]);
    const document = fields && { _id: of, ...row?.document, ...fields };
    const key = `office.${++this.#pushes}`;
    await this.#store.push('jobs', [{ id: of, base: row?.version, key, document }]);
  }

  async take(step: Step): Promise<void> {
    const { jobs, sync } = this.#device;
    switch (step.kind) {
      case 'theirs':
        return this.#write(step.id, step.job);
      case 'gone':
        return this.#write(step.id, undefined);
      case 'mine':
        return void (await jobs.upsert({ _id: step.id, ...step.job }));
      case 'delete':
      case 'archive':
        return void (await jobs[step.kind](step.id));
      case 'add':
      case 'remove':
        return void (await sync.scopes[step.kind](step.scope as never));
      case 'backup':
        this.#backup = await jobs.createBackup();
        return;
      case 'load':
        return void (this.#backup && (await jobs.loadBackup(this.#backup)));
      case 'save':
        return void (await jobs.save());
      case 'clear':
        return void (await jobs.deleteMany({ state: 'done' }));
      case 'settle':
        return sync.settled({ timeout: 60_000 });
      case 'reopen':
        await this.end();
        this.#indexed = step.indexed;
        this.#device = this.#open(step.caching);
    }
  }

  async check(): Promise<void> {
    if (!this.#indexed) return;
    const { jobs } = this.#device;
    const ask = () =>
      Promise.all([
        jobs.nearest([1, 2], { k: 1000 }),
        ...WORDS.map((word) => jobs.search(word, { limit: 1000, prefix: false })),
      ]);
    let [all, [near, ...found]] = [await jobs.filter({}), await ask()];
    // The replication may have applied a page between two calls.
    for (let now = await jobs.filter({}); !isDeepStrictEqual(now, all); now = await jobs.filter({}))
      [all, [near, ...found]] = [now, await ask()];
    const ids = (some: readonly { readonly _id: string }[]) => some.map(({ _id }) => _id).sort();
    for (const [at, word] of WORDS.entries()) {
      const right = all.filter(({ text }) => text?.split(' ').includes(word));
      expect([word, ids(found[at]?.map(({ document }) => document) ?? [])]).toEqual([
        word,
        ids(right),
      ]);
    }
    expect(ids(near.map(({ document }) => document))).toEqual(ids(all.filter(({ at }) => at)));
  }

  async end(): Promise<void> {
    await this.#device.sync.stop();
    await this.#device.db.close();
  }
}

test('searches find what a replication brings, and nothing that left its scopes', async () => {
  const run = async (steps: readonly Step[]) => {
    const phone = new Phone();
    for (const one of steps) {
      await phone.take(one);
      await phone.check();
    }
    await phone.take({ kind: 'settle' });
    await phone.check();
    await phone.end();
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), run), runs(40));
});
