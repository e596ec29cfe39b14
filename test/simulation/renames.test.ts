import { expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { seedsOf } from './run-seeds.ts';
import type { Tab } from './tab.ts';
import { type TabClient, TabStory } from './tab-story.ts';

/** Errors of calls that have changed nothing. */
const REFUSED = [
  ...['collection_renamed', 'collection_dropped', 'name_taken', 'collection_missing'],
  ...['storage_failed', 'storage_lost', 'closed'],
];

interface Client extends TabClient {
  /** The collection by the name that it had when the tab looked last. */
  notes: DocumentCollection<object>;
  readonly told: Set<string>;
}

/** Tabs write to a collection that they rename, while they end and freeze. */
class Renames extends TabStory<Client> {
  #name = 'name 0';
  #names = 0;
  #tokens = 0;

  constructor(seed: number) {
    super(seed, { steps: 25, pauseMs: 600, restMs: 5000, kinds: 12, refused: REFUSED });
  }

  protected enter(tab: Tab): Client {
    return { tab, notes: this.#openNotes(tab), told: new Set(), open: 0 };
  }

  #openNotes({ db }: Tab): DocumentCollection<object> {
    return new db.Collection<object>({
      ...{ name: this.#name, type: 'DOCUMENT_BASED', save_timeout: 5, save_directly_after: 1000 },
    });
  }

  protected disturb(client: Client): void {
    const [from, to] = [this.#name, `name ${++this.#names}`];
    this.do(client, async () => {
      await client.tab.db.renameCollection(from, to).catch((error: { code?: string }) => {
        if (error.code !== 'answer_lost') throw error;
      });
      const names = (await client.tab.db.collections()).map(({ name }) => name);
      if (names.includes(to)) this.#name = to;
    });
  }

  protected write(client: Client): void {
    const { tab, told } = client;
    const _id = `${tab.id}:${this.#tokens++}`;
    this.do(client, async () => {
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

  protected async check(): Promise<void> {
    const [{ tab }] = this.living as [Client];
    const names = (await this.world.hear(tab.db.collections(), 20_000)).map(({ name }) => name);
    const found: string[] = [];
    for (const name of names) {
      const notes = new tab.db.Collection<object>({ name, type: 'DOCUMENT_BASED' });
      const all = await this.world.hear(notes.filter({}), 20_000);
      found.push(...all.map(({ _id }) => _id));
    }
    if (new Set(found).size < found.length) this.violations.push(`twice: ${found.sort()}`);
    for (const client of this.living)
      for (const _id of client.told)
        if (!found.includes(_id)) this.violations.push(`${_id} is lost, of ${names}`);
  }
}

test('what tabs write to a collection that others rename is there once', async () => {
  for (const seed of seedsOf(60)) expect([seed, await new Renames(seed).run()]).toEqual([seed, []]);
}, 600_000);
