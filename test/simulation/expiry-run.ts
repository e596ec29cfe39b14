import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import type { LiveQuery } from '../../src/page/live/live-query.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

interface Entry {
  _id: string;
  at?: Date;
}

/** A document that a tab has inserted, and alone changes. */
interface Owned {
  readonly id: string;
  /** Every time at which it has had to expire: a replay may come after any of them. */
  dues: number[];
  /** Whether it was acknowledged. */
  told: boolean;
  saved: boolean;
}

interface Client {
  readonly tab: Tab;
  readonly entries: DocumentCollection<Entry>;
  readonly live: LiveQuery<readonly { _id: string }[]> | undefined;
  readonly owned: Owned[];
  open: number;
}

const BUSY_MS = 2500;
const REST_MS = 60_000;
const NEVER = Number.POSITIVE_INFINITY;
/** Milliseconds until documents expire: soon, as far away as clocks jump, beyond that. */
const LIVES = [-1000, 5, 100, 800, 30_000, 1e9, 1e10, 1e12, NEVER];
const JUMPS = [-1e10, -60_000, -500, 500, 60_000, 1e10];

/**
 * Runs tabs that write documents with a time to live, read, end and freeze, while the clock on the
 * wall is set back and ahead.
 *
 * @returns what went wrong; nothing, if all is well.
 */
export async function runExpiry(seed: number): Promise<string[]> {
  return new ExpirySimulation(seed).run();
}

class ExpirySimulation {
  readonly #world: World;
  readonly #browser: Browser;
  readonly #clients: Client[] = [];
  readonly #violations: string[] = [];
  /** The lowest time on the wall during each call under way. */
  readonly #lowest = new Set<{ time: number }>();
  #highest = 0;
  #ids = 0;

  constructor(seed: number) {
    this.#world = new World(seed);
    this.#browser = simulateBrowser(this.#world);
  }

  async run(): Promise<string[]> {
    const { random } = this.#world;
    const { weather } = this.#browser.storage;
    if (random.chance(0.3)) weather.slowness = random.between(3, 200);
    if (random.chance(0.2)) weather.failures = random.between(0, 0.2);
    this.#openTab();
    const begun = this.#world.now;
    for (let steps = 8 + random.below(20); steps > 0; steps--)
      this.#world.after(random.between(0, BUSY_MS), undefined, () => this.#step());
    await this.#world.runUntil(begun + BUSY_MS);
    weather.failures = 0;
    weather.slowness = 3;
    if (this.#living.length === 0) this.#openTab();
    await this.#world.runUntil(begun + BUSY_MS + REST_MS);
    await this.#check('at rest');
    for (const { tab } of this.#living) tab.kill();
    await this.#world.runUntil(this.#world.now + 1000);
    this.#openTab();
    await this.#check('after a reload');
    return [...this.#violations, ...this.#browser.storage.violations];
  }

  get #living(): Client[] {
    return this.#clients.filter(({ tab }) => !tab.dead);
  }

  /** The time on the wall. */
  #now(): number {
    const now = 1_700_000_000_000 + this.#world.now + this.#browser.ahead;
    this.#highest = Math.max(this.#highest, now);
    return now;
  }

  #jump(ms: number): void {
    this.#now();
    this.#browser.ahead += ms;
    const now = this.#now();
    for (const low of this.#lowest) low.time = Math.min(low.time, now);
  }

  #openTab(): void {
    const tab = new Tab(this.#clients.length, this.#browser);
    const entries = openEntries(tab, this.#world.random.chance(0.5));
    const live = this.#world.random.chance(0.5) ? entries.live({}) : undefined;
    live?.subscribe(() => undefined);
    this.#clients.push({ tab, entries, live, owned: [], open: 0 });
  }

  #step(): void {
    const { random } = this.#world;
    const living = this.#living;
    const client = living.length > 0 ? random.pick(living) : undefined;
    const kind = random.below(16);
    if (!client || (kind === 0 && living.length < 3)) this.#openTab();
    else if (kind === 1) client.tab.kill();
    else if (kind === 2) client.tab.freeze(random.between(10, 5000));
    else if (kind === 3 && !client.tab.frozen) client.tab.hide(random.between(1, 2000));
    else if (kind < 8) this.#jump(random.pick(JUMPS));
    else if (kind < 10) this.#do(client, (lowest) => this.#read(client, lowest));
    else if (kind === 10) this.#do(client, () => this.#save(client));
    else if (kind < 13 && client.owned.length > 0) {
      const owned = random.pick(client.owned);
      this.#do(client, (lowest) => this.#renew(client, owned, lowest));
    } else this.#do(client, () => this.#insert(client));
  }

  /** A frozen tab does nothing by itself. */
  #do(client: Client, act: (lowest: { time: number }) => Promise<unknown>): void {
    this.#world.after(0, client.tab, () => {
      client.open++;
      const lowest = { time: this.#now() };
      this.#lowest.add(lowest);
      act(lowest)
        .catch((error: unknown) => {
          const { code } = error as { code?: string };
          if (!['storage_failed', 'answer_lost', 'closed'].includes(code ?? ''))
            this.#violations.push(`tab ${client.tab.id}: ${error}`);
        })
        .finally(() => {
          client.open--;
          this.#lowest.delete(lowest);
        });
    });
  }

  #entryOf(id: string): { entry: Entry; due: number } {
    const due = this.#now() + this.#world.random.pick(LIVES);
    return { due, entry: due === NEVER ? { _id: id } : { _id: id, at: new Date(due) } };
  }

  async #insert({ entries, owned, tab }: Client): Promise<void> {
    const { entry, due } = this.#entryOf(`${tab.id}:${this.#ids++}`);
    const own: Owned = { id: entry._id, dues: [due], told: false, saved: false };
    owned.push(own);
    await entries.insert(entry);
    own.told = true;
  }

  /** Gives a document a new time, or takes its id again once it has expired. */
  async #renew({ entries }: Client, own: Owned, lowest: { time: number }): Promise<void> {
    const before = [...own.dues];
    const { entry, due } = this.#entryOf(own.id);
    const wasTold = own.told;
    own.dues.push(due);
    if (await entries.update(own.id, entry)) return;
    this.#now();
    if (wasTold && before.every((time) => time > this.#highest))
      this.#violations.push(`${own.id} is lost before its time`);
    const again = this.#entryOf(own.id);
    own.dues.push(again.due);
    const isGone = [...before, due].every((time) => time <= lowest.time);
    await entries.insert(again.entry).catch((error: unknown) => {
      // Another call of the tab may have inserted it meanwhile.
      if ((error as { code?: string }).code !== 'id_taken') throw error;
      if (isGone && own.dues.length === before.length + 2)
        this.#violations.push(`${own.id} keeps its id after its time`);
    });
  }

  async #save({ tab, owned }: Client): Promise<void> {
    const told = owned.filter((own) => own.told);
    await tab.db.save();
    for (const own of told) own.saved = true;
  }

  /** No read shows what has expired. */
  async #read(
    { entries, tab }: Pick<Client, 'entries' | 'tab'>,
    lowest: { time: number },
  ): Promise<readonly string[]> {
    const found = await entries.filter({});
    for (const { _id, at } of found)
      if (at && at.getTime() <= lowest.time)
        this.#violations.push(`tab ${tab.id} finds ${_id} after its time`);
    return found.map(({ _id }) => _id);
  }

  async #check(when: string): Promise<void> {
    const say = (what: string) => this.#violations.push(`${when}: ${what}`);
    for (const client of this.#living) {
      const { tab, live } = client;
      if (client.open > 0) say(`tab ${tab.id} waits for ${client.open} answers`);
      let ids: readonly string[] | undefined;
      this.#do(client, async (lowest) => {
        // One that could not be opened while storage failed can be constructed again.
        ids = await this.#read({ tab, entries: openEntries(tab, false) }, lowest);
      });
      await this.#world.runUntil(this.#world.now + 20_000);
      this.#now();
      if (!ids) {
        say(`tab ${tab.id} cannot read`);
        continue;
      }
      for (const other of this.#clients)
        for (const { id, dues, told, saved } of other.owned) {
          if (!(other.tab.dead ? saved : told) || ids.includes(id)) continue;
          if (dues.every((due) => due > this.#highest)) say(`${id} is lost before its time`);
        }
      const { status, data = [], error } = live?.getSnapshot() ?? {};
      if (!live || (error as { code?: string } | undefined)?.code === 'storage_failed') continue;
      // Within the last minute some may have expired.
      const now = this.#now();
      const isStable = (id: string) =>
        this.#clients.some(({ owned }) =>
          owned.some((own) => own.id === id && own.dues.every((due) => Math.abs(due - now) > 1e5)),
        );
      const [shown, found] = [data.map(({ _id }) => _id).filter(isStable), ids.filter(isStable)];
      if (status !== 'ready' || shown.join() !== found.join())
        say(`the live query of tab ${tab.id} is ${status}: ${shown} instead of ${found}`);
    }
  }
}

function openEntries({ db }: Tab, caching: boolean): DocumentCollection<Entry> {
  return new db.Collection<Entry>({
    ...{ name: 'entries', type: 'DOCUMENT_BASED', expire_after: 'at', caching },
  });
}
