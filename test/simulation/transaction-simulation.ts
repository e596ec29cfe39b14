import type { State } from '../serializability/history.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { runSeeded } from './slow-code.ts';
import { Tab } from './tab.ts';
import { type SaveOptions, TransactionClient } from './transaction-client.ts';
import { checkHistories, type Incident } from './transaction-histories.ts';
import { keyOf, TransactionLog } from './transaction-log.ts';
import { INITIAL_ACCOUNTS, nextProgram } from './transaction-program.ts';
import { World } from './world.ts';

/** Before so many milliseconds few collections are open. */
const OPENING_MS = 400;
/** Milliseconds in which things happen, and then until everything is at rest. */
const BUSY_MS = 1500;
const REST_MS = 30_000;

/** How many programs run twice at the same time. */
const TWICE = 0.4;

const SAVING: readonly SaveOptions[] = [
  {},
  { save_timeout: 0.05 },
  { save_timeout: 1, save_directly_after: 100 },
  { save_timeout: 10, save_directly_after: 100 },
];

const INITIAL: State = Object.fromEntries(
  INITIAL_ACCOUNTS.map((one) => [keyOf('accounts', one._id), one]),
);

/**
 * What may happen in a run beside what loses nothing: tabs that end with their journal, and freeze
 * or end after all is saved. Where storage fails the same tab leads: what fails to be replayed is
 * replayed later, out of its order.
 */
type Misfortune = 'none' | 'failures' | 'crash' | 'crash of all' | 'freeze';

const MISFORTUNES: readonly Misfortune[] = [
  'none',
  'none',
  'failures',
  'crash',
  'crash of all',
  'freeze',
];

/**
 * Runs tabs whose transactions meet, and which end, freeze and fail as the seed has it.
 *
 * @returns what went wrong; nothing, if all is well.
 */
export function runTransactions(seed: number, trace?: (line: string) => void): Promise<string[]> {
  return runSeeded(seed, new TransactionSimulation(seed, trace));
}

class TransactionSimulation {
  readonly world: World;
  readonly #browser: Browser;
  readonly #log = new TransactionLog(INITIAL);
  readonly #clients: TransactionClient[] = [];
  readonly #problems: string[] = [];
  readonly #trace: (line: string) => void;
  readonly #misfortune: Misfortune;
  readonly #saving: SaveOptions;
  /** A tab that runs no transactions, in some runs: it may lead, and end in any way. */
  #host: TransactionClient | undefined;
  #incident: Incident | undefined;
  #transactions = 0;
  #restsAt = Number.POSITIVE_INFINITY;

  constructor(seed: number, trace: (line: string) => void = () => undefined) {
    this.world = new World(seed);
    this.#trace = (line) => trace(`${this.world.now.toFixed(1)} ${line}`);
    this.#browser = simulateBrowser(this.world);
    const { random } = this.world;
    this.#misfortune = random.pick(MISFORTUNES);
    this.#saving = random.pick(SAVING);
  }

  /** Only while something happens: then code comes, as a user comes online again. */
  readonly mayLackCode = (): boolean => this.world.now < this.#restsAt;

  async run(): Promise<string[]> {
    const { random } = this.world;
    const { weather } = this.#browser.storage;
    await this.#prepare();
    if (random.chance(0.3)) weather.slowness = random.between(3, 100);
    if (this.#misfortune === 'failures') weather.failures = random.between(0, 0.3);
    if (random.chance(0.4)) this.#host = this.#openTab();
    for (let tabs = 1 + random.below(3); tabs > 0; tabs--) this.#openTab();
    const begun = this.world.now;
    this.#restsAt = begun + BUSY_MS;
    const atSomeTime = (act: () => void, from = OPENING_MS) =>
      this.world.after(random.between(from, BUSY_MS), undefined, act);
    for (let count = 5 + random.below(5); count > 0; count--) atSomeTime(() => this.#transact(), 0);
    for (let count = random.below(8); count > 0; count--) atSomeTime(() => this.#step());
    if (!['none', 'failures'].includes(this.#misfortune)) atSomeTime(() => this.#strike());
    await this.world.runUntil(begun + BUSY_MS);
    weather.failures = 0;
    weather.slowness = 3;
    if (this.#living.length === 0) this.#openTab();
    await this.world.runUntil(begun + BUSY_MS + REST_MS);
    const rest = this.#log.mark();
    const finals = await this.#observe('at rest');
    // What is in storage is the same.
    for (const { tab } of this.#living) tab.kill();
    await this.world.runUntil(this.world.now + 1000);
    this.#openTab();
    finals.push(...(await this.#observe('after a reload')));
    const history = this.#log.history(finals);
    const problems = checkHistories(history, this.#clients, rest, this.#incident);
    return [...this.#problems, ...problems, ...this.#browser.storage.violations];
  }

  async #prepare(): Promise<void> {
    const client = this.#newClient(-1);
    await this.world.hear(client.insertAccounts());
    await this.world.hear(client.tab.db.close());
    client.tab.kill();
  }

  get #living(): TransactionClient[] {
    return this.#clients.filter(({ tab }) => !tab.dead);
  }

  #openTab(): TransactionClient {
    const client = this.#newClient(this.#clients.length);
    const { id, db } = client.tab;
    this.#trace(`open ${id}`);
    db.on('status', ({ state, leader, unsaved }) =>
      this.#trace(`  ${id} ${state} ${leader ? 'leads' : ''} ${unsaved}`),
    );
    db.on('error', ({ error }) => this.#trace(`  ${id} ${error}`));
    this.#clients.push(client);
    return client;
  }

  #newClient(id: number): TransactionClient {
    return new TransactionClient(new Tab(id, this.#browser), {
      world: this.world,
      log: this.#log,
      saving: this.#saving,
      trace: this.#trace,
      wrong: (problem) => this.#problems.push(problem),
    });
  }

  /** A tab begins a transaction. One that is frozen does so when it wakes up. */
  #transact(): void {
    const { random } = this.world;
    if (this.#living.length === 0) this.#openTab();
    const guests = this.#living.filter((one) => one !== this.#host);
    const others = guests.length > 0 ? guests : this.#living;
    const client = random.pick(others);
    const [program, durable] = [nextProgram(random), random.chance(0.1)];
    // The same at once, often in two tabs, is what meets: phantoms, and what a replay undoes.
    const clients = [client, ...(random.chance(TWICE) ? [random.pick(others)] : [])];
    for (const one of clients) {
      const id = `t${++this.#transactions}`;
      this.#do(one, () => one.transact(id, program, durable));
    }
  }

  /** Something that loses nothing. */
  #step(): void {
    const { random } = this.world;
    const living = this.#living;
    const client = living.length > 0 ? random.pick(living) : undefined;
    const kind = random.below(this.#host ? 14 : 10);
    if (kind >= 10) {
      // Some are under way.
      for (let count = random.below(3); count > 0; count--) this.#transact();
      this.world.after(random.between(0, 80), undefined, () => this.#endHost());
    } else if (!client || (kind === 0 && living.length < 3)) {
      this.#openTab();
    } else this.#stepOf(client, kind);
  }

  #stepOf(client: TransactionClient, kind: number): void {
    const { random } = this.world;
    const { tab } = client;
    const say = (what: string) => this.#trace(`${what} ${tab.id}`);
    if (kind === 9) this.#browser.ahead += random.between(-1, 1) * 1e10;
    else if (tab.frozen || this.#mustStay(tab)) return;
    else if (kind === 1 && client.isClean) {
      say('kill');
      tab.kill();
    } else if (kind === 2) {
      say('close');
      client.closed = true;
      tab.close();
    } else if (kind === 3 && !tab.isHidden) {
      say('quit');
      client.closed = true;
      tab.quit();
    } else if (kind === 4 && client.isClean) {
      say('freeze');
      tab.freeze(random.between(10, 12_000));
    } else if (kind === 5) {
      say('rest');
      tab.rest(random.between(100, 5000));
    } else if (kind === 6) {
      say('hide');
      tab.hide(random.between(1, 2000));
    } else if (kind === 7) this.#do(client, () => client.save());
    else if (kind === 8) this.#closeClient(client);
  }

  /** Another one follows. */
  #endHost(): void {
    const { random } = this.world;
    const isKill = random.chance(0.7);
    const host = this.#host;
    if (!host?.isClean || host.tab.frozen || this.#mustStay(host.tab)) return;
    this.#trace(`${isKill ? 'kill' : 'freeze'} host ${host.tab.id}`);
    if (isKill) host.tab.kill();
    else host.tab.freeze(random.between(10, 12_000));
    this.#host = this.#openTab();
  }

  #mustStay({ db }: Tab): boolean {
    return this.#misfortune === 'failures' && (db.status.leader || db.status.state !== 'open');
  }

  /** Closes the database, and then the tab. What cannot be saved keeps it open. */
  #closeClient(client: TransactionClient): void {
    this.#trace(`close the db of ${client.tab.id}`);
    this.#do(client, async () => {
      await client.tab.db.close();
      client.closed = true;
      client.tab.kill();
    });
  }

  /** Something that may lose what was not saved, or brings it too late. */
  #strike(): void {
    const { random } = this.world;
    const living = this.#living;
    if (living.length === 0) return;
    const isOfAll = this.#misfortune === 'crash of all';
    const leader = living.find(({ tab }) => tab.db.status.leader) ?? random.pick(living);
    // With the leader always: what a follower has not saved would be lost at some later time, with
    // the next leader.
    const others = random.chance(0.3) ? [random.pick(living)] : [];
    const struck = isOfAll ? living : [...new Set([leader, ...others])];
    this.#trace(`${this.#misfortune}: ${struck.map(({ tab }) => tab.id)}`);
    this.#incident = {
      at: this.#log.mark(),
      isOfAll,
      struck: new Set(struck),
      isFreeze: this.#misfortune === 'freeze',
    };
    for (const { tab } of struck)
      if (this.#misfortune === 'freeze') tab.freeze(random.between(10, 12_000));
      else tab.kill();
  }

  /** A frozen tab does nothing by itself. */
  #do(client: TransactionClient, act: () => Promise<unknown>): void {
    client.open++;
    this.world.after(0, client.tab, () => {
      act()
        .catch((error: unknown) => client.note(error))
        .finally(() => {
          client.open--;
        });
    });
  }

  async #observe(when: string): Promise<{ when: string; state: State }[]> {
    const states: { when: string; state: State }[] = [];
    for (const client of this.#living) {
      const name = `${when} in tab ${client.tab.id}`;
      if (client.open > 0) this.#problems.push(`${name}: ${client.open} calls wait`);
      await this.world.hear(client.read(), 20_000).then(
        (state) => states.push({ when: name, state }),
        (error: unknown) => this.#problems.push(`${name}: it cannot read: ${error}`),
      );
    }
    return states;
  }
}
