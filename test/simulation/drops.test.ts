import { expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { seedsOf } from './run-seeds.ts';
import type { Tab } from './tab.ts';
import { type TabClient, TabStory } from './tab-story.ts';

/** Errors of calls that have changed nothing, or may have: nobody counts on them. */
const REFUSED = [
  ...['collection_dropped', 'storage_failed', 'storage_lost', 'closed', 'answer_lost'],
  ...['worker_lost', 'change_lost'],
];

interface Handle {
  readonly log: DocumentCollection<object>;
  readonly made: number;
  /** When it was open. */
  opened: number;
}

interface Client extends TabClient {
  handle: Handle;
}

interface Drop {
  readonly sent: number;
  readonly by: Handle;
  /** When it ended, however. */
  ended: number;
  isMade: boolean;
}

/** Tabs write to a collection that they drop and make anew, while they end and freeze. */
class Drops extends TabStory<Client> {
  readonly #drops: Drop[] = [];
  /** What was inserted, and whether that was told. */
  readonly #inserted = new Map<string, { readonly by: Handle; told: boolean; tab: Tab }>();

  constructor(seed: number) {
    super(seed, { steps: 30, pauseMs: 1500, restMs: 8000, kinds: 14, refused: REFUSED });
  }

  protected enter(tab: Tab): Client {
    return { tab, handle: this.#make(tab), open: 0 };
  }

  #make({ db }: Tab): Handle {
    const log = new db.Collection<object>({
      ...{ name: 'log', type: 'DOCUMENT_BASED', activate_drop_method: true },
      ...{ save_timeout: 5, save_directly_after: 1000 },
    });
    const handle = { log, made: this.world.now, opened: Number.POSITIVE_INFINITY };
    log.ready.then(
      () => {
        handle.opened = this.world.now;
      },
      () => undefined,
    );
    return handle;
  }

  protected disturb(client: Client): void {
    this.do(client, async () => {
      const by = client.handle;
      const isOver = this.#hasEnded(by);
      const drop = { sent: this.world.now, by, ended: Number.POSITIVE_INFINITY, isMade: false };
      this.#drops.push(drop);
      try {
        drop.isMade = await by.log.Drop();
        if (isOver) this.violations.push(`tab ${client.tab.id} drops with a handle that is over`);
      } finally {
        drop.ended = this.world.now;
        client.handle = this.#make(client.tab);
      }
    });
  }

  protected write(client: Client): void {
    const { tab } = client;
    this.do(client, async () => {
      const by = client.handle;
      const _id = `${tab.id}:${this.#inserted.size}`;
      const insert = { by, told: false, tab };
      this.#inserted.set(_id, insert);
      try {
        await by.log.insert({ _id });
        insert.told = true;
      } catch (error) {
        const { code } = error as { code?: string };
        if (code === 'collection_dropped') client.handle = this.#make(tab);
        throw error;
      }
    });
  }

  /** Whether the collection of a handle was dropped for sure. */
  #hasEnded({ opened }: Handle): boolean {
    return this.#drops.some(({ sent, isMade }) => isMade && opened < sent);
  }

  /** Whether a drop may have come after a handle was made. */
  #mayHaveEnded({ made }: Handle): boolean {
    return this.#drops.some(({ ended }) => ended >= made);
  }

  protected async check(): Promise<void> {
    const [{ tab }] = this.living as [Client];
    const { log } = this.#make(tab);
    const found = (await this.world.hear(log.filter({}), 20_000)).map(({ _id }) => _id);
    for (const [_id, { by, told, tab: writer }] of this.#inserted) {
      if (found.includes(_id) && this.#hasEnded(by)) this.violations.push(`${_id} came back`);
      if (!found.includes(_id) && told && !writer.dead && !this.#mayHaveEnded(by))
        this.violations.push(`${_id} is lost`);
    }
  }
}

test('what tabs write to a collection goes with it, and what they write to the next one stays', async () => {
  for (const seed of seedsOf(60)) expect([seed, await new Drops(seed).run()]).toEqual([seed, []]);
}, 600_000);
