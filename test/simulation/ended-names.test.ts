import { expect, test } from 'vitest';
import { Random } from '../setup/random.ts';
import { simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const NAMES = ['one', 'two', 'three'];

/** What each collection has to contain, by name. */
type Contents = Map<string, Set<string>>;

/** Renames, drops and makes collections of few names, in storage and in a model of it. */
class Names {
  readonly contents: Contents = new Map();
  readonly #world: World;
  readonly #random: Random;
  #made = 0;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  async change(tab: Tab): Promise<void> {
    const [name, to] = [this.#random.pick(NAMES), this.#random.pick(NAMES)];
    const own = this.contents.get(name);
    if (!own) await this.#make(tab, name);
    else if (this.#random.chance(0.4)) {
      await this.#world.hear(open(tab, name).Drop());
      this.contents.delete(name);
    } else if (!this.contents.has(to)) {
      await this.#world.hear(tab.db.renameCollection(name, to));
      this.contents.delete(name);
      this.contents.set(to, own);
    }
  }

  async #make(tab: Tab, name: string): Promise<void> {
    const _id = `made ${this.#made++}`;
    await this.#world.hear(open(tab, name).insert({ _id }));
    await this.#world.hear(tab.db.save());
    this.contents.set(name, new Set([_id]));
  }
}

const open = ({ db }: Tab, name: string) =>
  new db.Collection<{ n?: number }>({ name, type: 'DOCUMENT_BASED', activate_drop_method: true });

/** A collection whose changes are acknowledged long before they are saved. */
const unsaved = ({ db }: Tab, name: string) =>
  new db.Collection<{ n?: number }>({
    ...{ name, type: 'DOCUMENT_BASED' },
    ...{ save_timeout: 3600, save_directly_after: 1_000_000 },
  });

async function read(world: World, tab: Tab): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { name } of await world.hear(tab.db.collections()))
    found[name] = (await world.hear(open(tab, name).filter({}))).map(({ _id }) => _id).sort();
  return found;
}

async function run(seed: number): Promise<void> {
  const random = new Random(seed);
  const world = new World(seed);
  const browser = simulateBrowser(world);
  const first = new Tab(0, browser);
  const names = new Names(world, random);
  for (let steps = random.below(6); steps > 0; steps--) await names.change(first);
  while (names.contents.size === 0) await names.change(first);
  await world.hear(first.db.close());

  const frozen = new Tab(1, browser);
  const held = new Map(Array.from(names.contents, (entry) => entry));
  const handles = new Map(Array.from(held.keys(), (name) => [name, unsaved(frozen, name)]));
  for (const [name, handle] of handles) {
    const _id = `held ${name}`;
    await world.hear(handle.insert({ _id }));
    held.get(name)?.add(_id);
  }
  const inAll = frozen.db.transaction(async (tx) => {
    for (const handle of handles.values()) await tx(handle).insert({ _id: 'together' });
  });
  await world.hear(inAll);
  // Behind the transaction, which may have to follow another collection.
  for (const [name, handle] of handles) {
    await world.hear(handle.patch('together', { n: 1 }));
    held.get(name)?.add('together');
  }
  const isUnsaved = frozen.db.status.unsaved > 0;
  const lost: unknown[] = [];
  frozen.db.on('error', ({ error }) => lost.push(error.code));
  frozen.freeze(100_000);
  const other = new Tab(2, browser);
  await world.hear(other.db.ready, 20_000);
  for (let steps = 1 + random.below(8); steps > 0; steps--) await names.change(other);
  const left = [...names.contents.values()];
  // One more ends as the frozen tab comes back.
  await world.runUntil(frozen.frozenUntil - random.between(0, 20));
  await names.change(other);
  await world.runUntil(150_000);

  const due: Record<string, string[]> = {};
  for (const [name, ids] of names.contents) due[name] = [...ids].sort();
  expect(await read(world, other)).toEqual(due);
  const isLost = isUnsaved && [...held.values()].some((ids) => !left.includes(ids));
  if (left.length === names.contents.size)
    expect([...new Set(lost)]).toEqual(isLost ? ['collection_dropped'] : []);
  for (const [name, ids] of names.contents)
    if (ids.has('together'))
      expect(await world.hear(open(other, name).get('together'))).toMatchObject({ n: 1 });
  await world.hear(other.db.save());
  other.kill();
  await world.runUntil(160_000);
  expect(await read(world, frozen)).toEqual(due);
}

test('what a frozen tab had acknowledged goes where others rename it, and with what they drop', async () => {
  for (const seed of seedsOf(100))
    await run(seed).catch((error: Error) => {
      error.message = `seed ${seed}: ${error.message}`;
      throw error;
    });
}, 600_000);
