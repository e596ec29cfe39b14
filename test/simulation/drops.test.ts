import { expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { FIRST } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const SEEDS = Number(process.env.SEEDS ?? 60);

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

interface Client {
  readonly tab: Tab;
  handle: Handle;
  open: number;
}

interface Drop {
  readonly sent: number;
  readonly by: Handle;
  /** When it ended, however. */
  ended: number;
  isMade: boolean;
}

/** Tabs write to a collection that they drop and make anew, while they end and freeze. */
class Drops {
  readonly #world: World;
  readonly #browser: Browser;
  readonly #clients: Client[] = [];
  readonly #violations: string[] = [];
  readonly #drops: Drop[] = [];
  /** What was inserted, and whether that was told. */
  readonly #inserted = new Map<string, { readonly by: Handle; told: boolean; tab: Tab }>();

  constructor(seed: number) {
    this.#world = new World(seed);
    this.#browser = simulateBrowser(this.#world);
  }

  async run(): Promise<string[]> {
    const { random } = this.#world;
    if (random.chance(0.3)) this.#browser.storage.weather.slowness = random.between(3, 200);
    this.#enter();
    await this.#world.runUntil(1000);
    for (let step = 0; step < 30; step++) {
      this.#step();
      await this.#world.runUntil(this.#world.now + random.between(0, 1500));
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
    this.#clients.push({ tab, handle: this.#make(tab), open: 0 });
  }

  #make({ db }: Tab): Handle {
    const log = new db.Collection<object>({
      ...{ name: 'log', type: 'DOCUMENT_BASED', activate_drop_method: true },
      ...{ save_timeout: 5, save_directly_after: 1000 },
    });
    const handle = { log, made: this.#world.now, opened: Number.POSITIVE_INFINITY };
    log.ready.then(
      () => {
        handle.opened = this.#world.now;
      },
      () => undefined,
    );
    return handle;
  }

  #step(): void {
    const { random } = this.#world;
    const client = this.#living.length > 0 ? random.pick(this.#living) : undefined;
    const kind = random.below(14);
    if (!client || (kind === 0 && this.#living.length < 3)) this.#enter();
    else if (kind === 1) client.tab.kill();
    else if (client.tab.frozen) this.#write(client);
    else if (kind === 2) client.tab.close();
    else if (kind === 3) client.tab.freeze(random.between(10, 9000));
    else if (kind === 4) client.tab.rest(random.between(100, 8000));
    else if (kind < 7) this.#drop(client);
    else this.#write(client);
  }

  #do(client: Client, act: () => Promise<unknown>): void {
    this.#world.act(client, act, (error) => {
      const { code = '' } = error as { code?: string };
      if (!REFUSED.includes(code)) this.#violations.push(`tab ${client.tab.id}: ${error}`);
    });
  }

  #drop(client: Client): void {
    this.#do(client, async () => {
      const by = client.handle;
      const isOver = this.#hasEnded(by);
      const drop = { sent: this.#world.now, by, ended: Number.POSITIVE_INFINITY, isMade: false };
      this.#drops.push(drop);
      try {
        drop.isMade = await by.log.Drop();
        if (isOver) this.#violations.push(`tab ${client.tab.id} drops with a handle that is over`);
      } finally {
        drop.ended = this.#world.now;
        client.handle = this.#make(client.tab);
      }
    });
  }

  #write(client: Client): void {
    const { tab } = client;
    this.#do(client, async () => {
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

  async #check(): Promise<void> {
    const [{ tab }] = this.#living as [Client];
    const { log } = this.#make(tab);
    const found = (await this.#world.hear(log.filter({}), 20_000)).map(({ _id }) => _id);
    for (const [_id, { by, told, tab: writer }] of this.#inserted) {
      if (found.includes(_id) && this.#hasEnded(by)) this.#violations.push(`${_id} came back`);
      if (!found.includes(_id) && told && !writer.dead && !this.#mayHaveEnded(by))
        this.#violations.push(`${_id} is lost`);
    }
  }
}

test('what tabs write to a collection goes with it, and what they write to the next one stays', async () => {
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++)
    expect([seed, await new Drops(seed).run()]).toEqual([seed, []]);
}, 600_000);
