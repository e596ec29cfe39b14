import { isDeepStrictEqual } from 'node:util';
import type { LiveQuery } from '../../src/page/live/live-query.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import {
  CUSTOMERS,
  INITIAL,
  ofCustomers,
  openRelated,
  type RelatedHandles,
  type RelatedState,
  VIEWS,
  type View,
  type Writes,
} from './related-views.ts';
import { runSeeded } from './slow-code.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

interface Client {
  readonly tab: Tab;
  handles: RelatedHandles;
  readonly lives: readonly { readonly view: View; readonly live: LiveQuery<unknown> }[];
  /** Calls that wait. */
  open: number;
}

const BUSY_MS = 2500;
const REST_MS = 30_000;
const ALLOWED = ['storage_failed', 'load_failed', 'answer_lost', 'closed', 'transaction_conflict'];
const SAVING = [{}, { save_timeout: 0.05 }, { save_timeout: 1, save_directly_after: 100 }];

/**
 * Runs tabs that look into two collections, once and live, while transactions of all tabs write
 * one token to documents of both. Tabs end and freeze, storage fails, code comes late. A
 * transaction may be lost with its tab, as a whole: no result may mix tokens.
 *
 * @returns what went wrong; nothing, if all is well.
 */
export function runRelated(
  seed: number,
  trace: (line: string) => void = () => undefined,
): Promise<string[]> {
  return runSeeded(seed, new RelatedSimulation(seed, trace));
}

class RelatedSimulation {
  readonly world: World;
  readonly #browser: Browser;
  readonly #clients: Client[] = [];
  readonly #problems = new Set<string>();
  readonly #trace: (line: string) => void;
  /** Whether jobs come, go and change their customers: each transaction then writes all of them. */
  readonly #moves: boolean;
  readonly #options: object;
  readonly #written = new Map<string, RelatedState>([['initial', INITIAL]]);
  #tokens = 0;
  #restsAt = Number.POSITIVE_INFINITY;

  constructor(seed: number, trace: (line: string) => void) {
    this.world = new World(seed);
    this.#trace = (line) => trace(`${this.world.now.toFixed(1)} ${line}`);
    this.#browser = simulateBrowser(this.world);
    const { random } = this.world;
    this.#moves = random.chance(0.5);
    this.#options = { caching: random.chance(0.5), ...random.pick(SAVING) };
  }

  readonly mayLackCode = (): boolean => this.world.now < this.#restsAt;

  async run(): Promise<string[]> {
    const { random } = this.world;
    const { weather } = this.#browser.storage;
    const first = new Tab(-1, this.#browser);
    const { customers, jobs } = openRelated(first, this.#options);
    const { documents } = this.#writesOf(INITIAL, 'initial');
    await this.world.hear(
      Promise.all([customers.insertMany(documents.customers), jobs.insertMany(documents.jobs)]),
    );
    await this.world.hear(first.db.close());
    first.kill();
    if (random.chance(0.3)) weather.slowness = random.between(3, 100);
    if (random.chance(0.2)) weather.failures = random.between(0, 0.2);
    for (let tabs = 1 + random.below(3); tabs > 0; tabs--) this.#openTab();
    const begun = this.world.now;
    this.#restsAt = begun + BUSY_MS;
    for (let steps = 20 + random.below(40); steps > 0; steps--)
      this.world.after(random.between(0, BUSY_MS), undefined, () => this.#step());
    await this.world.runUntil(begun + BUSY_MS);
    weather.failures = 0;
    weather.slowness = 3;
    if (this.#living.length === 0) this.#openTab();
    // The last change is often of one collection alone.
    const last = random.pick(this.#living);
    if (random.chance(0.5)) this.#do(last, () => this.#touch(last));
    await this.world.runUntil(begun + BUSY_MS + REST_MS);
    await this.#check('at rest');
    for (const { tab } of this.#living) tab.kill();
    await this.world.runUntil(this.world.now + 1000);
    this.#openTab();
    await this.#check('after a reload');
    return [...this.#problems, ...this.#browser.storage.violations];
  }

  get #living(): Client[] {
    return this.#clients.filter(({ tab }) => !tab.dead);
  }

  #openTab(): void {
    const { random } = this.world;
    const tab = new Tab(this.#clients.length, this.#browser);
    this.#trace(`open ${tab.id}`);
    const handles = openRelated(tab, this.#options);
    const views = VIEWS.filter(() => random.chance(0.5));
    const lives = views.map((view) => ({ view, live: view.live(handles) }));
    const client: Client = { tab, handles, lives, open: 0 };
    for (const { view, live } of lives)
      live.subscribe(({ data, error }) => {
        if (error) this.#note(client, error);
        if (data) this.#see(client, `live ${view.name}`, view, data);
      });
    tab.db.on('error', ({ error }) => this.#note(client, error));
    this.#clients.push(client);
  }

  #step(): void {
    const { random } = this.world;
    const living = this.#living;
    const client = living.length > 0 ? random.pick(living) : undefined;
    const kind = random.below(24);
    if (!client || (kind === 0 && living.length < 3)) {
      this.#openTab();
      return;
    }
    const { tab } = client;
    if (kind < 5) this.#trace(`${['kill', 'kill', 'freeze', 'close', 'rest'][kind]} ${tab.id}`);
    if (kind === 1) tab.kill();
    else if (kind === 2) tab.freeze(random.between(10, 12_000));
    else if (kind === 3) tab.close();
    else if (kind === 4) tab.rest(random.between(100, 5000));
    else if (kind === 5) this.#do(client, () => tab.db.save());
    else if (kind < 8) this.#do(client, () => this.#touch(client));
    else if (kind < 16) this.#do(client, () => this.#transact(client));
    else this.#do(client, () => this.#read(client, random.pick(VIEWS)));
  }

  #do(client: Client, act: () => Promise<unknown>): void {
    this.world.act(client, act, (error) => this.#note(client, error));
  }

  #note({ tab }: Client, error: unknown): void {
    const { code = '' } = error as { code?: string };
    if (!ALLOWED.includes(code))
      this.#problems.add(`tab ${tab.id}: ${(error as Error)?.stack ?? error}`);
  }

  /** Changes what no view compares, in one collection. */
  async #touch({ handles: { customers, jobs } }: Client): Promise<void> {
    const { random } = this.world;
    const noise = random.below(1000);
    if (random.chance(0.5)) await customers.patch(random.pick(CUSTOMERS), { noise });
    else await jobs.patchMany(ofCustomers({ open: random.chance(0.5) }), { noise });
  }

  /** One token for all that it writes. What it has written is known before it can be seen. */
  async #transact({ tab, handles }: Client): Promise<void> {
    const { random } = this.world;
    const state = this.#moves ? this.#moved() : this.#sometimesOpen();
    const isWide = random.chance(0.3);
    const pause = random.below(3);
    await tab.db.transaction(
      async (tx) => {
        const token = `t${++this.#tokens}`;
        this.#written.set(token, state);
        this.#trace(`${token} in ${tab.id}: ${JSON.stringify(state)}`);
        const [customers, jobs] = [tx(handles.customers), tx(handles.jobs)];
        const { documents, absent } = this.#writesOf(state, token);
        if (!this.#moves && isWide) {
          for (const { _id, ...fields } of documents.customers) await customers.patch(_id, fields);
          for (const { _id, open } of documents.customers)
            await jobs.patchMany(ofCustomers({ _id }), { token, open });
        } else {
          for (const one of documents.jobs) await jobs.upsert(one);
          if (pause) await this.#pause(tab, pause);
          for (const id of absent) await jobs.delete(id);
          for (const one of documents.customers) await customers.upsert(one);
        }
      },
      { durable: random.chance(0.1) },
    );
  }

  #pause(tab: Tab, ms: number): Promise<void> {
    return new Promise((resolve) => this.world.after(ms, tab, resolve));
  }

  /** All customers, each job with any of them or with none. */
  #moved(): RelatedState {
    const { random } = this.world;
    const state: Record<string, { open: boolean; jobs: string[] }> = {};
    for (const id of CUSTOMERS) state[id] = { open: random.chance(0.5), jobs: [] };
    for (const job of Object.values(INITIAL).flatMap(({ jobs }) => jobs))
      if (random.chance(0.8)) state[random.pick(CUSTOMERS)]?.jobs.push(job);
    return state;
  }

  /** Some customers with their jobs. */
  #sometimesOpen(): RelatedState {
    const { random } = this.world;
    const [first, second] = [random.pick(CUSTOMERS), random.pick(CUSTOMERS)];
    const chosen = CUSTOMERS.filter((id) => id === first || id === second);
    return Object.fromEntries(
      chosen.map((id) => [id, { open: random.chance(0.5), jobs: INITIAL[id]?.jobs ?? [] }]),
    );
  }

  #writesOf(state: RelatedState, token: string): Writes {
    const all = Object.entries(state);
    const customers = all.map(([_id, { open }]) => ({ _id, token, open, noise: 0 }));
    const jobs = all.flatMap(([customer_id, { open, jobs: own }]) =>
      own.map((_id) => ({ _id, customer_id, token, open, noise: 0 })),
    );
    const present = new Set(jobs.map(({ _id }) => _id));
    const every = Object.values(INITIAL).flatMap(({ jobs: own }) => own);
    const absent = this.#moves ? every.filter((id) => !present.has(id)) : [];
    return { documents: { customers, jobs }, absent };
  }

  async #read(client: Client, view: View): Promise<void> {
    const { handles, tab } = client;
    if (this.world.random.chance(0.8))
      return this.#see(client, view.name, view, await view.read(handles));
    const found = await tab.db.transaction((tx) =>
      view.read({ customers: tx(handles.customers), jobs: tx(handles.jobs) } as never),
    );
    this.#see(client, `transaction ${view.name}`, view, found);
  }

  /** Compares what one result shows with what the transaction of its tokens has written. */
  #see({ tab }: Client, how: string, view: View, data: unknown): void {
    const rows = view.rowsOf(data as never);
    const tokens = new Set(rows.map(({ token }) => token));
    const say = (what: string) =>
      this.#problems.add(`tab ${tab.id}, ${how}: ${what}\n${JSON.stringify(rows)}`);
    if (this.#moves && tokens.size > 1) say('tokens of several transactions');
    for (const { id, token, open, jobs } of rows) {
      const written = this.#written.get(token)?.[id];
      const ids = jobs.map((job) => job.id);
      if (jobs.some((job) => job.token !== token)) say(`${id} has another token than its jobs`);
      else if (!written) say(`${id} with an unknown token`);
      else if (open !== written.open) say(`${id} is not as it was written`);
      else if (!isDeepStrictEqual(ids, written.jobs.toSorted()))
        say(`${id} has not the jobs ${written.jobs}`);
    }
    // Where each transaction writes all, what is shown is known.
    const [token] = tokens;
    const all = this.#moves ? Object.entries(this.#written.get(token ?? '') ?? {}) : [];
    const expected = all.filter(([, one]) => view.shows(one)).map(([id]) => id);
    const shown = rows.map(({ id }) => id);
    if (token && this.#moves && !isDeepStrictEqual(shown, expected)) say(`instead of ${expected}`);
  }

  async #check(when: string): Promise<void> {
    const say = (what: string) => this.#problems.add(`${when}: ${what}`);
    for (const client of this.#living) {
      const { tab, lives } = client;
      if (client.open > 0) say(`tab ${tab.id} waits for ${client.open} answers`);
      // One that could not be opened while storage failed can be constructed again.
      const handles = openRelated(tab, this.#options);
      const fresh = new Map<View, unknown>();
      this.#do(client, async () => {
        for (const view of VIEWS) {
          const found = await view.read(handles);
          this.#see(client, `${view.name} ${when}`, view, found);
          fresh.set(view, found);
        }
      });
      await this.world.runUntil(this.world.now + 20_000);
      if (fresh.size < VIEWS.length) say(`tab ${tab.id} cannot read`);
      for (const { view, live } of lives) {
        const { status, data, error } = live.getSnapshot();
        if (error && ALLOWED.includes((error as { code?: string }).code ?? '')) continue;
        if (status !== 'ready' || !isDeepStrictEqual(data, fresh.get(view)))
          say(
            `tab ${tab.id}: live ${view.name} is ${status}\n${JSON.stringify(data)}\ninstead of\n${JSON.stringify(fresh.get(view))}`,
          );
      }
    }
  }
}
