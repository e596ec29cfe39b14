import { expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/index.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';
import { FakeClock, settled } from '../engine/fake-clock.ts';
import { fc, runs } from '../setup/properties.ts';
import { type Entry, ExpiryModel } from './expiry-model.ts';

const HOUR = 3_600_000;
const NOW = 1_700_000_000_000;

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
/** Times about now, most of them minutes away, some far. */
const time = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -6, max: 12 }).map((tens) => tens * 600_000) },
  { weight: 1, arbitrary: fc.constantFrom(-1e12, 60 * 24 * HOUR, 1e12, 1, 0, 15_000) },
);
const at = fc.oneof(
  time.map((ms) => ms),
  fc.constantFrom(null, undefined),
);
const fields = fc.record({
  at,
  n: fc.integer({ min: 0, max: 2 }),
  code: fc.constantFrom(undefined, undefined, 'x', 'y'),
});
const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('insert' as const), id, fields }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('insertMany' as const),
      all: fc.uniqueArray(fc.tuple(id, fields), {
        selector: ([own]) => own,
        maxLength: 3,
        minLength: 1,
      }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('upsert' as const), id, fields }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('update' as const), id, fields }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('patch' as const), id, at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('transaction' as const), id, fields }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('jump' as const), ms: time, isRead: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.integer({ min: 0, max: 2 * HOUR }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

const fieldsOf = ({ _id, at, n, code }: Entry) => JSON.stringify([_id, at ?? null, n, code]);
const shown = (entries: readonly Entry[]) => entries.map(fieldsOf);
const byId = (entries: readonly Entry[]) => shown(entries).sort();

/** A collection, and the model of it. */
class Subject {
  readonly clock = new FakeClock(NOW);
  readonly model: ExpiryModel;
  readonly #driver = memoryDriver();
  readonly #options: object;
  #client!: ReturnType<typeof openClient>['client'];
  #entries!: DocumentCollection<Entry>;
  #live: readonly Entry[] | undefined;
  #counted: number | undefined;

  constructor(caching: boolean, seconds: number) {
    this.model = new ExpiryModel(seconds);
    this.#options = {
      caching,
      expire_after: { field: 'at', seconds },
      indexes: ['n', { fields: 'code', unique: true }],
    };
    this.#open();
  }

  #open(): void {
    this.#client = openClient(this.#driver, this.clock).client;
    this.#entries = new this.#client.Collection<Entry>({
      ...{ name: 'entries', type: 'DOCUMENT_BASED', ...this.#options },
    } as never) as never;
    this.#live = undefined;
    this.#entries.live({}).subscribe(({ data }) => {
      this.#live = data;
    });
    this.#entries.liveCount({ n: { $lt: 2 } }).subscribe(({ data }) => {
      this.#counted = data;
    });
  }

  #entryOf(_id: string, { at: ms, ...rest }: Extract<Command, { do: 'insert' }>['fields']): Entry {
    return { _id, ...rest, at: typeof ms === 'number' ? new Date(this.clock.now() + ms) : ms };
  }

  /** The code of the refusal of a call. */
  async #refusal(call: Promise<unknown>): Promise<string | undefined> {
    return call.then(
      () => undefined,
      ({ code }: { code: string }) => code,
    );
  }

  async run(done: Command): Promise<void> {
    const { model, clock } = this;
    if (done.do !== 'jump') model.look(clock.now());
    switch (done.do) {
      case 'insert':
      case 'transaction': {
        const entry = this.#entryOf(done.id, done.fields);
        const refusal = model.has(done.id)
          ? 'id_taken'
          : model.isTaken(entry)
            ? 'unique_violation'
            : undefined;
        const call =
          done.do === 'insert'
            ? this.#entries.insert(entry)
            : this.#client.transaction(async (tx) => {
                expect(await tx(this.#entries).count()).toBe(model.all.length);
                await tx(this.#entries).insert(entry);
              });
        expect(await this.#refusal(call)).toBe(refusal);
        if (!refusal) model.insert(entry);
        break;
      }
      case 'insertMany': {
        const all = done.all.map(([own, given]) => this.#entryOf(own, given));
        const codes = all.flatMap(({ code }) => code ?? []);
        const refusal = all.some(({ _id }) => model.has(_id))
          ? 'id_taken'
          : all.some((entry) => model.isTaken(entry)) || new Set(codes).size < codes.length
            ? 'unique_violation'
            : undefined;
        expect(await this.#refusal(this.#entries.insertMany(all))).toBe(refusal);
        if (!refusal) for (const entry of all) model.insert(entry);
        break;
      }
      case 'upsert':
      case 'update': {
        const entry = this.#entryOf(done.id, done.fields);
        const isThere = model.has(done.id);
        const refusal =
          (isThere || done.do === 'upsert') && model.isTaken(entry)
            ? 'unique_violation'
            : undefined;
        const call =
          done.do === 'upsert' ? this.#entries.upsert(entry) : this.#entries.update(done.id, entry);
        expect(await this.#refusal(call)).toBe(refusal);
        if (refusal) break;
        if (!model.replace(entry) && done.do === 'upsert') model.insert(entry);
        break;
      }
      case 'patch': {
        const changed = { at: this.#entryOf(done.id, { at: done.at } as never).at };
        const found = await this.#entries.patch(done.id, changed);
        const before = model.all.find(({ _id }) => _id === done.id);
        expect(found !== undefined).toBe(before !== undefined);
        if (before) model.replace({ ...before, ...changed });
        break;
      }
      case 'delete':
        expect(await this.#entries.delete(done.id)).toBe(model.delete(done.id));
        break;
      case 'jump':
        clock.jump(done.ms);
        if (!done.isRead) return;
        break;
      case 'wait':
        await clock.advance(done.ms);
        break;
      case 'restart': {
        await this.#client.close();
        this.#open();
        expect(model.restart(clock.now(), await this.#entries.filter({}))).toEqual([]);
      }
    }
    await this.check();
  }

  /** Every way of reading agrees with the model. */
  async check(): Promise<void> {
    const { model, clock } = this;
    model.look(clock.now());
    const { all } = model;
    expect(await this.#entries.count()).toBe(all.length);
    expect(shown(await this.#entries.filter({}))).toEqual(shown(all));
    expect(byId(await this.#entries.filter({ n: 1 }))).toEqual(
      byId(all.filter(({ n }) => n === 1)),
    );
    expect(await this.#entries.count({ n: { $lt: 2 } })).toBe(
      all.filter(({ n = 0 }) => n < 2).length,
    );
    expect(await this.#entries.count({ code: 'x' })).toBe(
      all.filter(({ code }) => code === 'x').length,
    );
    const found = await this.#entries.getMany(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(byId(found.filter((one) => one !== undefined))).toEqual(byId(all));
  }

  /** After the removal live queries show the same, and nothing else is left. */
  async end(): Promise<void> {
    await this.clock.advance(15_000);
    await this.check();
    const expected = shown(this.model.all);
    const count = this.model.all.filter(({ n = 0 }) => n < 2).length;
    const isLate = () =>
      shown(this.#live ?? []).join() !== expected.join() || this.#counted !== count;
    // A collection that is hardly open sweeps later, and the code of live queries loads meanwhile.
    const isCurrent = async () => {
      await this.clock.advance(0);
      await settled();
      return !isLate();
    };
    await expect.poll(isCurrent, { interval: 1, timeout: 10_000 }).toBe(true);
    expect(shown(this.#live ?? [])).toEqual(expected);
    expect(this.#counted).toBe(count);
    await this.#client.close();
  }
}

test.each([true, false])(
  'caching: %s; whatever clocks do, all reads agree with a list',
  async (caching) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 1, maxLength: 25 }),
        fc.constantFrom(0, 0.5, 1800),
        async (commands, seconds) => {
          const subject = new Subject(caching, seconds);
          // A time that was never read does not count.
          await subject.check();
          for (const one of commands) await subject.run(one);
          await subject.end();
        },
      ),
      runs(150),
    );
  },
);
