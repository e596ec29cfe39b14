import { expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { FIRST } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const SEEDS = Number(process.env.SEEDS ?? 60);

/** Errors of calls that have changed nothing. */
const REFUSED = [
  ...['collection_renamed', 'collection_dropped', 'name_taken', 'collection_missing'],
  ...['storage_failed', 'storage_lost', 'closed'],
];

interface Client {
  readonly tab: Tab;
  /** The collection by the name that it had when the tab looked last. */
  notes: DocumentCollection<object>;
  readonly told: Set<string>;
  open: number;
}

/** Tabs write to a collection that they rename, while they end and freeze. */
class Renames {
  readonly #world: World;
  readonly #browser: Browser;
  readonly #clients: Client[] = [];
  readonly #violations: string[] = [];
  #name = 'name 0';
  #names = 0;
  #tokens = 0;

  constructor(seed: number) {
    this.#world = new World(seed);
    this.#browser = simulateBrowser(this.#world);
  }

  async run(): Promise<string[]> {
    const { random } = this.#world;
    if (random.chance(0.3)) this.#browser.storage.weather.slowness = random.between(3, 200);
    this.#enter();
    await this.#world.runUntil(1000);
    for (let step = 0; step < 25; step++) {
      this.#step();
      await this.#world.runUntil(this.#world.now + random.between(0, 600));
    }
    this.#browser.storage.weather.slowness = 3;
    if (this.#living.length === 0) this.#enter();
    await this.#world.runUntil(this.#world.now + 60_000);
    for (const { tab, open } of this.#living)
      if (open > 0) this.#violations.push(`tab ${tab.id} waits for ${open} answers`);
    await this.#check();
    return [...this.#violations, ...this.#browser.storage.violations];
  }

  get #living(): Client[] {
    return this.#clients.filter(({ tab }) => !tab.dead);
  }

  #enter(): void {
    const tab = new Tab(this.#clients.length, this.#browser);
    this.#clients.push({ tab, notes: this.#openNotes(tab), told: new Set(), open: 0 });
  }

  #openNotes({ db }: Tab): DocumentCollection<object> {
    return new db.Collection<object>({
      ...{ name: this.#name, type: 'DOCUMENT_BASED', save_timeout: 5, save_directly_after: 1000 },
    });
  }

  #step(): void {
    const { random } = this.#world;
    const client = this.#living.length > 0 ? random.pick(this.#living) : undefined;
    const kind = random.below(12);
    if (!client || (kind === 0 && this.#living.length < 3)) this.#enter();
    else if (kind === 1) client.tab.kill();
    else if (client.tab.frozen) this.#write(client);
    else if (kind === 2) client.tab.close();
    else if (kind === 3) client.tab.freeze(random.between(10, 9000));
    else if (kind === 4) client.tab.rest(random.between(100, 5000));
    else if (kind < 7) this.#rename(client);
    else this.#write(client);
  }

  #do(client: Client, act: () => Promise<unknown>): void {
    this.#world.act(client, act, (error) => {
      const { code = '' } = error as { code?: string };
      if (!REFUSED.includes(code)) this.#violations.push(`tab ${client.tab.id}: ${error}`);
    });
  }

  #rename(client: Client): void {
    const [from, to] = [this.#name, `name ${++this.#names}`];
    this.#do(client, async () => {
      await client.tab.db.renameCollection(from, to).catch((error: { code?: string }) => {
        if (error.code !== 'answer_lost') throw error;
      });
      const names = (await client.tab.db.collections()).map(({ name }) => name);
      if (names.includes(to)) this.#name = to;
    });
  }

  #write(client: Client): void {
    const { tab, told } = client;
    const _id = `${tab.id}:${this.#tokens++}`;
    this.#do(client, async () => {
      const made = await client.notes.insert({ _id }).catch((error: { code?: string }) => {
        const { code = '' } = error;
        if (code === 'answer_lost') return true;
        if (code === 'collection_renamed' || code === 'collection_dropped')
          client.notes = this.#openNotes(tab);
        throw error;
      });
      if (made && !tab.dead) told.add(_id);
    });
  }

  async #check(): Promise<void> {
    const [{ tab }] = this.#living as [Client];
    const names = (await this.#world.hear(tab.db.collections(), 20_000)).map(({ name }) => name);
    const found: string[] = [];
    for (const name of names) {
      const notes = new tab.db.Collection<object>({ name, type: 'DOCUMENT_BASED' });
      const all = await this.#world.hear(notes.filter({}), 20_000);
      found.push(...all.map(({ _id }) => _id));
    }
    if (new Set(found).size < found.length) this.#violations.push(`twice: ${found.sort()}`);
    for (const client of this.#living)
      for (const _id of client.told)
        if (!found.includes(_id)) this.#violations.push(`${_id} is lost, of ${names}`);
  }
}

test('what tabs write to a collection that others rename is there once', async () => {
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++)
    expect([seed, await new Renames(seed).run()]).toEqual([seed, []]);
}, 600_000);
