import { expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { changeWord } from './sim-encryption.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

interface Client {
  readonly tab: Tab;
  readonly notes: DocumentCollection<object>;
  readonly told: Set<string>;
}

/** Opens, writes, ends and changes the key as the seed has it; returns what went wrong. */
class Keys {
  readonly #world: World;
  readonly #browser: Browser;
  readonly #clients: Client[] = [];
  readonly #violations: string[] = [];
  #word = 'word 0';
  #count = 0;

  constructor(seed: number) {
    this.#world = new World(seed);
    this.#browser = simulateBrowser(this.#world);
  }

  async run(): Promise<string[]> {
    await this.#enter(this.#word);
    for (let step = 0; step < 14; step++) await this.#step();
    await this.#world.runUntil(this.#world.now + 20_000);
    const last = await this.#enter(this.#word);
    const reading = last?.notes.filter({});
    await this.#world.runUntil(this.#world.now + 5000);
    const found = new Set(((await reading) ?? []).map(({ _id }) => _id));
    for (const { tab, told } of this.#clients)
      for (const id of tab.dead ? [] : told)
        if (!found.has(id)) this.#violations.push(`${id} is lost`);
    for (const id of found) if (id.startsWith('x')) this.#violations.push(`${id} was let in`);
    return [...this.#violations, ...this.#browser.storage.violations];
  }

  get #open(): Client[] {
    return this.#clients.filter(({ tab }) => !tab.dead && tab.db.status.state === 'open');
  }

  async #step(): Promise<void> {
    const { random } = this.#world;
    const client = this.#open.length > 0 ? random.pick(this.#open) : undefined;
    const kind = random.below(8);
    if (!client || kind === 0) await this.#enter(this.#word);
    else if (kind === 1)
      await this.#enter(random.pick(['wrong', `word ${this.#count + 1}`, undefined]));
    else if (kind === 2 && this.#count > 0) await this.#enter(`word ${this.#count - 1}`);
    else if (kind === 3) {
      this.#word = `word ${++this.#count}`;
      await this.#settled(changeWord(this.#browser, client.tab, this.#word));
    } else if (kind === 4) client.tab.kill();
    else if (kind === 5) client.tab.close();
    else if (kind === 6) client.tab.rest(random.between(100, 3000));
    else client.tab.freeze(random.between(10, 9000));
    for (const one of this.#open) this.#write(one);
    await this.#world.runUntil(this.#world.now + random.between(0, 3000));
  }

  /** Opens a tab: it gets in with the key of the database alone. */
  async #enter(word: string | undefined): Promise<Client | undefined> {
    const tab = new Tab(this.#clients.length, this.#browser, word);
    const notes = new tab.db.Collection<object>({
      ...{ name: 'notes', type: 'DOCUMENT_BASED' },
      ...{ save_timeout: 3600, save_directly_after: 1_000_000 },
    });
    const client = { tab, notes, told: new Set<string>() };
    this.#clients.push(client);
    const isRight = word === this.#word;
    const entered = notes.insert({ _id: `${isRight ? '' : 'x'}${tab.id}` }).then(
      ({ _id }) => {
        client.told.add(_id);
        return undefined;
      },
      (error: { code?: string }) => error.code,
    );
    const code = await this.#settled(entered);
    const expected = isRight ? undefined : word ? 'key_wrong' : 'key_missing';
    if (code !== expected)
      this.#violations.push(`tab ${tab.id} with ${word} for ${this.#word} got ${code}`);
    return isRight ? client : undefined;
  }

  #write({ tab, notes, told }: Client): void {
    const { random } = this.#world;
    notes.insert({ _id: `${tab.id}:${random.below(1e9)}` }).then(
      ({ _id }) => told.add(_id),
      () => undefined,
    );
  }

  async #settled<T>(asked: Promise<T>): Promise<T | 'no answer'> {
    let answer: { readonly value: T } | undefined;
    asked.then((value) => {
      answer = { value };
    });
    await this.#world.runUntil(this.#world.now + 15_000, () => answer !== undefined);
    return answer ? answer.value : 'no answer';
  }
}

test('who has the key of a database gets in, nobody else, and nothing that was acknowledged is lost', async () => {
  for (const seed of seedsOf(60)) expect([seed, await new Keys(seed).run()]).toEqual([seed, []]);
}, 600_000);

test('a tab without the key that leads gives way to one that has it', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const enter = async (id: number, word: string | undefined) => {
    const tab = new Tab(id, browser, word);
    const notes = new tab.db.Collection<object>({ name: 'notes', type: 'DOCUMENT_BASED' });
    const outcome = notes.insert({ _id: `n${id}` }).then(
      () => 'in',
      ({ code }) => code as string,
    );
    await world.runUntil(world.now + 15_000);
    return { tab, outcome };
  };
  const first = await enter(0, 'word 0');
  expect(await first.outcome).toBe('in');
  first.tab.kill();
  await world.runUntil(world.now + 1000);
  const locked = await enter(1, undefined);
  expect(await locked.outcome).toBe('key_missing');
  expect(locked.tab.db.status.leader).toBe(true);
  const right = await enter(2, 'word 0');
  expect(await right.outcome).toBe('in');
  expect(locked.tab.db.status).toMatchObject({
    state: 'failed',
    last_error: { code: 'key_missing' },
  });
});
