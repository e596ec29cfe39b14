import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import type { KeyValueCollection } from '../../src/page/collections/key-value-collection.ts';
import type { LiveQuery } from '../../src/page/live/live-query.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { LEDGER_WRITES, Ledger, prepareLedger } from './ledger.ts';
import { slowCode } from './slow-code.ts';
import { Tab } from './tab.ts';
import { countMany, manyOf, PARTED, twice } from './tokens.ts';
import { World } from './world.ts';

/** A tab, its calls and their answers. */
interface Client {
  readonly tab: Tab;
  readonly notes: DocumentCollection<{ n: number }>;
  readonly log: KeyValueCollection;
  /** Documents that are changed in place, in some runs. */
  readonly ledger: Ledger | undefined;
  /** What it watches, in some runs. */
  readonly live: LiveQuery<readonly { _id: string }[]> | undefined;
  /** Tokens that it was told to be in the log. */
  readonly told: Set<string>;
  /** Acknowledged tokens that a later answer says are saved. */
  readonly saved: Set<string>;
  /** Promises that wait. */
  open: number;
  /** Tokens acknowledged until the page heard of its end. */
  left: ReadonlySet<string> | undefined;
}

/** How often something is written as many documents at once, which travel in parts. */
const MANY = 0.01;
/** The same in every tenth run, where they wait for longer to be saved. */
const MOSTLY_MANY = 0.3;
/** How often tabs have live queries. */
const WATCHED = 0.1;
/** How often tabs have a ledger, and how often they write to it then. */
const KEPT = 0.5;
const ENTERED = 0.5;
/** Milliseconds of a run in which things happen, and then until everything is at rest. */
const BUSY_MS = 2500;
const REST_MS = 60_000;

/**
 * Runs tabs that write, end, freeze and fail as the seed has it.
 *
 * @param trace Takes what happens, to read.
 * @returns what went wrong; nothing, if all is well.
 */
export async function run(seed: number, trace?: (line: string) => void): Promise<string[]> {
  const simulation = new Simulation(seed, trace);
  const endSlowCode = slowCode(seed, simulation.world, () => simulation.isBusy);
  try {
    return await simulation.run();
  } finally {
    endSlowCode();
  }
}

class Simulation {
  readonly world: World;
  /** Whether things still fail. */
  isBusy = true;
  readonly #browser: Browser;
  readonly #clients: Client[] = [];
  readonly #violations: string[] = [];
  readonly #trace: (line: string) => void;
  #tokens = 0;
  /** Whether each tab has a live query. */
  readonly #watches: boolean;
  /** Whether each tab has a ledger. */
  readonly #keepsLedger: boolean;
  /** Whether many documents are written at once often. */
  readonly #writesMany: boolean;
  /** Tokens of changes that are refused, or not made. */
  readonly #refused = new Set<string>();

  constructor(seed: number, trace: (line: string) => void = () => undefined) {
    this.#trace = (line) => trace(`${this.world.now.toFixed(1)} ${line}`);
    this.world = new World(seed);
    this.#browser = simulateBrowser(this.world);
    this.#watches = this.world.random.chance(WATCHED);
    this.#keepsLedger = this.world.random.chance(KEPT);
    this.#writesMany = seed % 10 === 0;
  }

  async run(): Promise<string[]> {
    const { random } = this.world;
    const { weather } = this.#browser.storage;
    if (this.#keepsLedger) await prepareLedger(this.#browser);
    if (random.chance(0.3)) weather.slowness = random.between(3, 200);
    if (random.chance(0.3)) weather.failures = random.between(0, 0.2);
    this.#openTab();
    const begun = this.world.now;
    const steps = 6 + random.below(14);
    for (let step = 0; step < steps; step++) {
      this.world.after(random.between(0, BUSY_MS), undefined, () => this.#step());
    }
    await this.world.runUntil(begun + BUSY_MS);
    this.isBusy = false;
    weather.failures = 0;
    weather.slowness = 3;
    if (this.#living.length === 0) this.#openTab();
    await this.world.runUntil(begun + BUSY_MS + REST_MS);
    await this.#check('at rest');
    // What is in storage is the same.
    for (const { tab } of this.#living) tab.kill();
    await this.world.runUntil(this.world.now + 1000);
    this.#openTab();
    await this.#check('after a reload', true);
    return [...this.#violations, ...this.#browser.storage.violations];
  }

  get #living(): Client[] {
    return this.#clients.filter(({ tab }) => !tab.dead);
  }

  #openTab(): void {
    const tab = new Tab(this.#clients.length, this.#browser);
    this.#trace(`open ${tab.id}`);
    tab.db.on('status', ({ state, leader, unsaved }) =>
      this.#trace(`  ${tab.id} ${state} ${leader ? 'leads' : ''} ${unsaved}`),
    );
    tab.db.on('error', ({ error }) => this.#trace(`  ${tab.id} ${error}`));
    const collections = openCollections(tab, this.#writesMany);
    const live = this.#watches ? collections.notes.live({}) : undefined;
    live?.subscribe(() => undefined);
    const ledger = this.#keepsLedger ? new Ledger(tab) : undefined;
    const client: Client = {
      ...{ ...collections, live, ledger },
      told: new Set(),
      saved: new Set(),
      open: 0,
      left: undefined,
    };
    this.#clients.push(client);
    if (ledger) this.#do(client, () => ledger.begin());
  }

  #step(): void {
    const { random } = this.world;
    const living = this.#living;
    const client = living.length > 0 ? random.pick(living) : undefined;
    const kind = random.below(16);
    if (client && kind < 8)
      this.#trace(
        `${['open', 'kill or quit', 'close', 'freeze', 'rest', 'hide', 'jump', 'save'][kind]} ${client.tab.id}`,
      );
    if (!client || (kind === 0 && living.length < 3)) this.#openTab();
    else if (kind === 1 && !client.tab.frozen && random.chance(0.5)) {
      // A hidden page is not told, nor is there a word after that it was hidden.
      client.left = client.tab.isHidden ? undefined : new Set(client.told);
      client.tab.quit();
    } else if (kind === 1 || (kind === 2 && client.tab.frozen)) client.tab.kill();
    else if (kind === 2) {
      client.left = client.told;
      client.tab.close();
    } else if (kind === 3) client.tab.freeze(random.between(10, 12_000));
    else if (client.tab.frozen) this.#write(client);
    else if (kind === 4) client.tab.rest(random.between(100, 5000));
    else if (kind === 5) client.tab.hide(random.between(1, 2000));
    else if (kind === 6) this.#browser.ahead += random.between(-1, 1) * 1e10;
    else if (kind === 7) this.#save(client);
    else if (kind === 8 && random.chance(0.5)) this.#closeClient(client);
    else for (let writes = 1 + random.below(4); writes > 0; writes--) this.#write(client);
  }

  #do(client: Client, act: () => Promise<unknown>): void {
    this.world.act(client, act, (error) => this.#note(client, error));
  }

  #note({ tab }: Client, error: unknown): void {
    const { code } = error as { code?: string };
    const allowed = ['storage_failed', 'answer_lost', 'closed', 'load_failed'];
    if (!allowed.includes(code ?? '')) this.#violations.push(`tab ${tab.id}: ${error}`);
  }

  #write(client: Client): void {
    const { random } = this.world;
    const token = `${client.tab.id}:${this.#tokens++}`;
    const isMany = random.chance(this.#writesMany ? MOSTLY_MANY : MANY);
    const told = () => {
      // Code comes to a tab that has ended, too.
      if (client.tab.dead) return;
      const tokens = isMany ? manyOf(token).map(({ _id }) => _id) : [token];
      for (const one of tokens) client.told.add(one);
      this.#trace(`told ${token}`);
    };
    const { ledger, notes, log } = client;
    const how = ledger && !isMany && random.chance(ENTERED) && random.pick(LEDGER_WRITES);
    this.#trace(`write ${token} ${isMany ? 'and more' : how || ''}`);
    if (how === 'refused') this.#refused.add(token);
    const make = async (): Promise<boolean> => {
      if (ledger && how) return ledger.write(how, token);
      if (isMany)
        await (random.chance(0.5) ? notes.insertMany : notes.upsertMany).call(notes, manyOf(token));
      else if (random.chance(0.5)) await log.push('all', token);
      else await notes.insert({ _id: token, n: 1 });
      return true;
    };
    this.#do(client, () =>
      make().then(
        (isThere) => isThere && told(),
        (error: unknown) => {
          // It is there, only what was answered is lost.
          this.#trace(`failed ${token}: ${error}`);
          if ((error as { code?: string }).code === 'answer_lost') told();
          else throw error;
        },
      ),
    );
  }

  #save(client: Client): void {
    this.#do(client, async () => {
      const before = [...client.told];
      await client.tab.db.save();
      for (const token of before) client.saved.add(token);
      this.#trace(`saved ${client.tab.id}: ${before}`);
    });
  }

  /** Closes the database, and then the tab. What cannot be saved keeps it open. */
  #closeClient(client: Client): void {
    this.#trace(`close the db of ${client.tab.id}`);
    this.#do(client, async () => {
      const before = [...client.told];
      await client.tab.db.close();
      for (const token of before) client.saved.add(token);
      client.tab.kill();
    });
  }

  async #check(when: string, fresh = false): Promise<void> {
    const say = (what: string) => this.#violations.push(`${when}: ${what}`);
    const seen: string[] = [];
    for (const client of this.#living) {
      if (client.open > 0) say(`tab ${client.tab.id} waits for ${client.open} answers`);
      const contents = this.#read(client);
      await this.world.runUntil(this.world.now + 20_000);
      const found = await Promise.race([contents, Promise.resolve(undefined)]);
      if (!found) {
        say(`tab ${client.tab.id} cannot read`);
        continue;
      }
      const tokens = [...found.logged, ...found.ids, ...found.tokens];
      for (const problem of found.problems) say(`tab ${client.tab.id}: ${problem}`);
      for (const token of tokens) if (this.#refused.has(token)) say(`${token} was refused`);
      seen.push(JSON.stringify([...tokens].sort()));
      this.#checkLive(client, found.ids, say);
      const set = new Set(tokens);
      for (const [token, there] of countMany(set))
        if (there < PARTED) say(`${token} is there in part: ${there}`);
      if (set.size < tokens.length) say(`a change was applied twice: ${twice(tokens)}`);
      for (const other of this.#clients) {
        // What a tab that ended was told, and had not saved, may be gone with it.
        const left = fresh ? undefined : other.left;
        const due = other.tab.dead ? (left ?? other.saved) : other.told;
        for (const token of due)
          if (!set.has(token)) say(`${token} is lost to tab ${client.tab.id}`);
      }
    }
    if (new Set(seen).size > 1) say(`tabs differ: ${seen.join(' / ')}`);
  }

  /** A live query shows what a fresh one finds. */
  #checkLive({ live, tab }: Client, ids: readonly string[], say: (what: string) => void): void {
    if (!live) return;
    const { status, data = [], error } = live.getSnapshot();
    // One that met storage while it failed has said so.
    if ((error as { code?: string } | undefined)?.code === 'storage_failed') return;
    const shown = data.map(({ _id }) => _id);
    if (status !== 'ready' || shown.join() !== ids.join())
      say(`the live query of tab ${tab.id} is ${status} (${error}): ${shown} instead of ${ids}`);
  }

  async #read({ tab }: Client) {
    try {
      // One that could not be opened while storage failed can be constructed again.
      const { log, notes } = openCollections(tab, this.#writesMany);
      const logged = ((await log.get('all')) ?? []) as string[];
      const found = await notes.filter({});
      const { tokens, problems } = this.#keepsLedger
        ? await new Ledger(tab).read()
        : { tokens: [], problems: [] };
      // What is only ever new was never replaced.
      for (const { _id, _updated } of found)
        if (_updated) problems.push(`an upsertMany was applied twice: ${_id}`);
      return { logged, ids: found.map(({ _id }) => _id), tokens, problems };
    } catch (error) {
      this.#violations.push(`reading: ${error}`);
      return undefined;
    }
  }
}

function openCollections(tab: Tab, isLate: boolean) {
  const { Collection } = tab.db;
  return {
    tab,
    // Saved early, as by default; the other one is not.
    notes: new Collection<{ n: number }>({
      ...{ name: 'notes', type: 'DOCUMENT_BASED' },
      ...(isLate && { save_timeout: 1, save_directly_after: 1000 }),
    }),
    log: new Collection({ name: 'log', type: 'KEY_VALUE_BASED', save_timeout: 1 }),
  };
}
