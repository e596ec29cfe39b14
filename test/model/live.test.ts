import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { DatabaseClient, DocumentCollectionOptions, LiveSnapshot } from '../../src/index.ts';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';
import { settled } from '../engine/fake-clock.ts';
import { fc, runs } from '../setup/properties.ts';
import { type Shown, type Thing, type View, views } from './live-views.ts';

const id = fc.nat(7).map((n) => `d${n}`);
const thing: fc.Arbitrary<Thing> = fc.record(
  { n: fc.nat(5), k: fc.constantFrom('a', 'b'), d: fc.nat(3).map((ms) => new Date(ms)) },
  { requiredKeys: ['n'] },
);

type Command =
  | { readonly do: 'upsert' | 'update'; readonly id: string; readonly thing: Thing }
  | { readonly do: 'patch'; readonly id: string; readonly n: number }
  | { readonly do: 'archive' | 'unarchive' | 'delete'; readonly id: string }
  | { readonly do: 'insertMany'; readonly things: Thing[] }
  | { readonly do: 'upsertMany'; readonly things: (Thing & { _id?: string })[] }
  | { readonly do: 'modify'; readonly id: string }
  | { readonly do: 'deleteMany' | 'patchMany'; readonly n: number }
  | { readonly do: 'together'; readonly things: Thing[] }
  | { readonly do: 'save' | 'rest' | 'drop' | 'reopen' }
  | { readonly do: 'toggle'; readonly view: number };

const just = <Name extends Command['do']>(...names: Name[]) => fc.constantFrom(...names);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: just('upsert', 'update'), id, thing }) },
  { weight: 4, arbitrary: fc.record({ do: just('patch'), id, n: fc.nat(5) }) },
  { weight: 6, arbitrary: fc.record({ do: just('archive', 'unarchive', 'delete'), id }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: just('insertMany', 'together'),
      things: fc.array(thing, { maxLength: 80 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: just('upsertMany'),
      things: fc.array(
        fc.tuple(id, thing).map(([_id, own]) => ({ ...own, _id })),
        { maxLength: 20 },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: just('modify'), id }) },
  { weight: 4, arbitrary: fc.record({ do: just('deleteMany', 'patchMany'), n: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: just('rest', 'save') }) },
  { weight: 1, arbitrary: fc.record({ do: just('drop', 'reopen') }) },
  { weight: 3, arbitrary: fc.record({ do: just('toggle'), view: fc.nat(views.length - 1) }) },
);

/** A live query that is read, with what it has told. */
class Watched {
  readonly query: Shown;
  readonly view: View;
  #stop: (() => void) | undefined;
  #told: LiveSnapshot<unknown>[] = [];

  constructor(view: View, things: DocumentCollection<Thing>) {
    this.view = view;
    this.query = view.open(things);
  }

  get reads(): boolean {
    return this.#stop !== undefined;
  }

  toggle(): void {
    if (this.#stop) {
      this.#stop();
      this.#stop = undefined;
    } else {
      this.#stop = this.query.subscribe((snapshot) => this.#told.push(snapshot));
      this.#told = [this.query.getSnapshot()];
    }
  }

  /**
   * What it has told since the last check: each differs from the one before, and no more than it
   * has to.
   */
  check(): void {
    for (const [at, snapshot] of this.#told.entries()) this.#compare(this.#told[at - 1], snapshot);
    this.#told = this.#told.slice(-1);
  }

  #compare(before: LiveSnapshot<unknown> | undefined, snapshot: LiveSnapshot<unknown>): void {
    if (snapshot.status !== 'ready' || before?.status !== 'ready') return;
    expect(isDeepStrictEqual(snapshot.data, before.data)).toBe(false);
    if (!Array.isArray(snapshot.data)) return;
    const earlier = new Map((before.data as { _id: string }[]).map((each) => [each._id, each]));
    for (const each of snapshot.data) {
      const known = earlier.get(each._id);
      if (isDeepStrictEqual(each, known)) expect(each).toBe(known);
    }
  }
}

/** Lets everything come to rest, and compares what is shown with what there is. */
async function rest(things: DocumentCollection<Thing>, watched: readonly Watched[]): Promise<void> {
  const all = await things.filter({}, { archived: true });
  for (const each of watched) {
    const { query, view, reads } = each;
    if (!reads) continue;
    await query.ready;
    const expected = view.expected(all);
    const there = () => {
      const { status, data } = query.getSnapshot();
      return status === 'ready' && isDeepStrictEqual(data, expected);
    };
    for (let turns = 0; turns < 200 && !there(); turns++) await settled();
    expect(query.getSnapshot()).toEqual({ status: 'ready', data: expected, error: undefined });
    each.check();
  }
}

async function runScript(
  script: readonly Command[],
  options: Pick<DocumentCollectionOptions, 'caching' | 'indexes'>,
): Promise<void> {
  const driver = memoryDriver();
  let client: DatabaseClient = openClient(driver).client;
  let things: DocumentCollection<Thing>;
  let watched: Watched[] = [];
  const open = (): DocumentCollection<Thing> => {
    things = new client.Collection<Thing>({
      name: 'things',
      type: 'DOCUMENT_BASED',
      ...options,
      activate_drop_method: true,
    });
    watched = views.map((view) => new Watched(view, things));
    for (const each of watched) each.toggle();
    return things;
  };
  const ended = async (code: string) => {
    for (const { query, reads } of watched) {
      if (!reads) continue;
      // However long it takes to load what live queries need.
      await query.ready.catch(() => undefined);
      for (let turns = 0; turns < 200 && !query.getSnapshot().error; turns++) await settled();
      expect(query.getSnapshot()).toMatchObject({ status: 'error', error: { code } });
    }
  };
  const perform = async (step: Command): Promise<unknown> => {
    switch (step.do) {
      case 'upsert':
        return things.upsert({ ...step.thing, _id: step.id });
      case 'update':
        return things.update(step.id, step.thing);
      case 'patch':
        return things.patch(step.id, { n: step.n });
      case 'insertMany':
        return things.insertMany(step.things);
      case 'upsertMany':
        return things.upsertMany(step.things);
      case 'modify':
        return things.modify(step.id, async (found) => ({ ...found, n: found.n + 1 }));
      case 'patchMany':
        return things.patchMany({ n: { $gte: step.n } }, { $inc: { n: 1 }, $set: { k: 'b' } });
      case 'together':
        return Promise.all(step.things.map((each) => things.insert(each)));
      case 'deleteMany':
        return things.deleteMany({ n: step.n });
      case 'save':
        return things.save();
      case 'rest':
        return rest(things, watched);
      case 'toggle':
        return watched[step.view]?.toggle();
      case 'drop':
        await things.Drop();
        await ended('collection_dropped');
        return open();
      case 'reopen':
        await client.close();
        await ended('closed');
        client = openClient(driver).client;
        return open();
      default:
        return things[step.do](step.id);
    }
  };
  things = open();
  for (const step of script) await perform(step);
  await rest(things, watched);
  await client.close();
}

test.each([
  { caching: true },
  { caching: false },
  { caching: true, indexes: ['n', 'k'] },
  { caching: false, indexes: ['n', 'k'] },
])('live queries show what a fresh query finds, with %o', async (options) => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 30 }), (script) =>
      runScript(script, options),
    ),
    runs(60),
  );
});
