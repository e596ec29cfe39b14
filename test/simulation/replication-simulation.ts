import type { systemClock } from '../../src/async/clock.ts';
import type { LocalRow } from '../../src/protocol/replica-protocol.ts';
import { PART_BYTES } from '../../src/replication/protocol/http-fields.ts';
import { mergeFields, type Resolver } from '../../src/replication/resolvers.ts';
import type { Resolved } from '../../src/replication/rounds/conflict-resolution.ts';
import { simulateBrowser } from './browser.ts';
import { CouchFiles } from './couch-files.ts';
import { CrashingStorage } from './crashing-storage.ts';
import {
  type Contents,
  differences,
  ReplicationChecker,
  wrongBases,
} from './replication-checks.ts';
import { type ClientContext, GROUPS, ReplicationClient, type Site } from './replication-client.ts';
import { couchRemote, OtherProgram } from './replication-couch.ts';
import { type MadeFiles, PARTS, SimFiles } from './replication-files.ts';
import { graphqlRemote } from './replication-graphql.ts';
import { streamedRemote } from './replication-http.ts';
import { ReplicationLog } from './replication-log.ts';
import { ReplicationNetwork } from './replication-network.ts';
import { planOf, type RunPlan } from './replication-plan.ts';
import { isIn, ReplicationServer } from './replication-server.ts';
import { SimKeys } from './sealed-documents.ts';
import { SimCouch } from './sim-couch.ts';
import { World } from './world.ts';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
/** The longest that a tab freezes, in milliseconds. */
const FREEZE_MS = 12_000;
/** Retries come at most so late. */
const RETRY_MS = 65_000;
/** Conflicts that are decided in a moment, at most. */
const MOST_DECISIONS = 1000;
/** Rounds until all must be equal, and the longest of one: a request with files may take long. */
const ROUNDS = 8;
const ROUND_MS = 2_000_000;

/** What is beside documents, and how code comes. */
export type SimulationMode =
  | ''
  | 'slow code'
  | 'files'
  | 'relations'
  | 'encrypted'
  | 'encrypted files'
  | 'streams'
  | 'graphql'
  | 'couchdb'
  | 'couchdb files';

/**
 * One run: browsers that replicate with a server, while tabs, storage and network fail as the seed
 * has it.
 */
export class ReplicationSimulation {
  readonly world: World;
  readonly #plan: RunPlan;
  readonly #server: ReplicationServer | SimCouch;
  readonly #program: OtherProgram | undefined;
  readonly #log: ReplicationLog;
  readonly #sites: Site[] = [];
  readonly #storages: CrashingStorage[] = [];
  readonly #clients: ReplicationClient[] = [];
  readonly #problems: string[] = [];
  readonly #trace: (line: string) => void;
  readonly #context: ClientContext;
  readonly #files: MadeFiles | undefined;
  readonly #keys: SimKeys | undefined;

  /** @param mode Whether documents name files, are related or encrypted. */
  constructor(
    seed: number,
    trace: (line: string) => void = () => undefined,
    mode: SimulationMode = '',
  ) {
    const hasFiles = mode.endsWith('files');
    const relates = mode === 'relations';
    const isSealed = mode.startsWith('encrypted');
    const isStreamed = mode === 'streams';
    this.world = new World(seed);
    this.#trace = (line) => trace(`${this.world.now.toFixed(1)} ${line}`);
    const { random } = this.world;
    const plan = planOf(random);
    // A server that cannot read adds no field. One that was restored seems to replay.
    this.#plan = isSealed
      ? { ...plan, restores: false, habits: { ...plan.habits, changes: false } }
      : plan;
    if (isSealed) this.#keys = new SimKeys(random);
    const { name } = this.#plan.resolve ?? {};
    this.#trace(JSON.stringify({ ...this.#plan, resolve: name }));
    this.#log = new ReplicationLog(this.#plan.resolve === undefined);
    this.#log.isScoped = this.#plan.scoped;
    this.#log.hasFiles = hasFiles;
    const server = new ReplicationServer(random, this.#plan.habits, (ms, call) =>
      this.world.after(ms, undefined, call),
    );
    const { habits, scoped } = this.#plan;
    const couch = mode.startsWith('couchdb')
      ? new SimCouch(this.world, habits, !scoped)
      : undefined;
    this.#server = couch ?? server;
    if (couch) this.#program = new OtherProgram(this.world, couch, this.#log, this.#trace);
    const isLimited = hasFiles && random.chance(0.5);
    const parts = { world: this.world, documents: server, isLimited };
    const served = hasFiles && !couch ? new SimFiles(parts) : undefined;
    if (hasFiles && couch) couch.files = new CouchFiles(this.world, couch.model, isLimited);
    this.#files = served ?? couch?.files;
    server.onAdded = (id, token) => this.#log.addedByServer(id, token);
    const { collection, resolve, hesitation, poison, rings } = this.#plan;
    this.#context = {
      ...{ log: this.#log, collection, poison, trace: this.#trace, relates },
      ...{ files: this.#files, keys: this.#keys },
      ...(isStreamed && {
        remoteOf: (network, tab) => streamedRemote({ world: this.world, server, network, tab }),
      }),
      ...(couch && {
        remoteOf: (network, tab) => {
          const browser = this.#sites.findIndex((one) => one.network === network);
          return couchRemote({ world: this.world, network, tab }, { couch, rings, browser });
        },
      }),
      ...(mode === 'graphql' && { remoteOf: graphqlRemote }),
      options: {
        resolve: resolve ?? (hesitation > 0 ? this.#decide : undefined),
        ...(hasFiles && {
          files: {
            load: random.pick(['lazy', 'eager'] as const),
            ...{ above: 8, limit: ((isLimited ? 40 : 10_000) * PART_BYTES) / PARTS },
          },
        }),
      },
      wrong: (problem) => this.#problems.push(problem),
    };
    for (let number = 0; number < this.#plan.browsers; number++)
      this.#addSite(number, server, served);
  }

  get readsLate(): boolean {
    return this.#plan.lateReads;
  }

  #decisions = { at: 0, count: 0 };

  /** Only while something happens: then code comes, as a user comes online again. */
  readonly mayLackCode = (): boolean => this.world.now < this.#plan.busy;
  readonly after: typeof systemClock.after = (ms, call) => this.world.after(ms, undefined, call);
  /** @throws {Error} where documents are merged for ever: time would not go on. */
  readonly decided = ({ conflict }: Resolved): void => {
    const { now } = this.world;
    if (this.#decisions.at !== now) this.#decisions = { at: now, count: 0 };
    if (++this.#decisions.count > MOST_DECISIONS) {
      this.#problems.push(`documents are merged for ever at ${now}`);
      throw new Error('The simulation ends this round.');
    }
    if (conflict) this.#log.untold.add(conflict);
  };
  readonly listed = (rows: readonly LocalRow[]): void => {
    if (!(this.#server instanceof ReplicationServer) || this.#keys) return;
    this.#problems.push(...wrongBases(this.#server.states, rows));
  };
  readonly unhandled = (error: unknown): void => {
    this.#problems.push(`unhandled: ${(error as Error)?.stack ?? error}`);
  };

  /** Decides in a while. */
  readonly #decide: Resolver = (states) => {
    const ms = this.world.random.between(0, this.#plan.hesitation);
    return new Promise((resolve) =>
      this.world.after(ms, undefined, () => resolve(mergeFields(states))),
    );
  };

  async run(): Promise<string[]> {
    const { random } = this.world;
    const { busy, steps, changes } = this.#plan;
    for (const site of this.#sites) this.#openTab(site);
    const [first] = this.#clients as [ReplicationClient];
    if (random.chance(0.8)) {
      this.#do(first, () => first.insert(IDS));
      await this.world.runUntil(2000);
    }
    this.#breakDown();
    const begun = this.world.now;
    const atSomeTime = (act: () => void) =>
      this.world.after(random.between(0, busy), undefined, act);
    for (let count = changes; count > 0; count--) atSomeTime(() => this.#change());
    for (let count = steps; count > 0; count--) atSomeTime(() => this.#step());
    if (this.#plan.restores) for (const act of [this.#copy, this.#restore]) atSomeTime(act);
    const ids = IDS.slice(0, this.#plan.documents);
    if (this.#program)
      for (let count = changes; count > 0; count -= 2) atSomeTime(() => this.#program?.act(ids));
    if (this.#plan.scoped || this.#context.relates)
      for (let count = changes; count > 0; count--) atSomeTime(() => this.#regroup());
    if (this.#files) {
      for (let count = changes; count > 0; count--) atSomeTime(() => this.#attach());
      for (let count = random.below(4); count > 0; count--)
        atSomeTime(() => this.#files?.collect());
      for (const storage of this.#storages)
        for (let count = random.below(4); count > 0; count--)
          atSomeTime(() => {
            storage.isFull = !storage.isFull;
          });
    }
    if (this.#keys)
      atSomeTime(() => {
        (this.#keys as SimKeys).isRotated = true;
      });
    await this.world.runUntil(begun + busy);
    await this.#heal();
    const finals = await this.#comeToRest('at rest');
    if (finals.length > 0)
      this.#problems.push(...new ReplicationChecker(this.#log, this.#server, finals).problems());
    await this.#checkFiles();
    await this.#checkViews('at rest');
    await this.#reload();
    await this.#checkViews('after a reload');
    const storages = this.#storages.flatMap(({ violations }) => violations);
    return [...this.#problems, ...this.#server.violations, ...storages];
  }

  #addSite(number: number, server: ReplicationServer, files: SimFiles | undefined): void {
    const storage = new CrashingStorage(this.world);
    const network = new ReplicationNetwork(this.world, server, this.#plan.rings, files);
    network.onDelivered = (tokens) => this.#log.delivered(number, tokens);
    network.onPushed = (tab, rows) => this.#log.pushed(number, tab, rows);
    this.#storages.push(storage);
    const scopes = this.#plan.scoped
      ? Array.from({ length: GROUPS }, (_, g) => ({ g })).filter(() =>
          this.world.random.chance(0.4),
        )
      : undefined;
    this.#sites.push({ number, browser: simulateBrowser(this.world, storage), network, scopes });
  }

  get #living(): ReplicationClient[] {
    return this.#clients.filter(({ tab }) => !tab.dead);
  }

  #livingOf(site: Site): ReplicationClient[] {
    return this.#living.filter((one) => one.site === site);
  }

  #openTab(site: Site): ReplicationClient {
    this.#trace(`open ${site.number}/${this.#clients.length}`);
    const client = new ReplicationClient(this.#clients.length, site, this.#context);
    this.#clients.push(client);
    if (client.views) this.#do(client, client.views.prepare);
    return client;
  }

  #breakDown(): void {
    const { random } = this.world;
    for (const { network, browser } of this.#sites) {
      if (random.chance(this.#plan.calm)) continue;
      const { weather } = network;
      weather.slowness = random.between(5, 400);
      for (const kind of ['lost', 'unanswered', 'doubled', 'late', 'refused'] as const)
        if (random.chance(0.5)) weather[kind] = random.between(0, 0.3);
      if (this.#plan.mute) weather.unanswered = random.between(0.3, 0.9);
      if (random.chance(0.2)) network.mostRows = 1 + random.below(3);
      if (random.chance(0.3)) browser.storage.weather.slowness = random.between(3, 100);
    }
    for (const storage of this.#storages) {
      storage.crashes = random.chance(0.3) ? 0.02 : 0;
      storage.lateness = this.#plan.lateReads ? random.between(100, 3000) : 0;
    }
    if (this.#keys && !this.#plan.scoped && random.chance(0.5)) this.#server.replays = 0.2;
    if (this.#files && random.chance(0.5)) this.#files.crashes = random.between(0, 0.1);
  }

  #change(): void {
    const { random } = this.world;
    const site = random.pick(this.#sites);
    const living = this.#livingOf(site);
    const client = living.length > 0 ? random.pick(living) : this.#openTab(site);
    this.#do(client, () => client.change(IDS.slice(0, this.#plan.documents)));
  }

  /** Documents get files. */
  #attach(): void {
    const { random } = this.world;
    const living = this.#living;
    if (living.length === 0) return;
    const client = random.pick(living);
    this.#do(client, () => client.attach(random.pick(IDS), random.pick(IDS)));
  }

  /** What documents name is on the server, and every browser gets it. */
  async #checkFiles(): Promise<void> {
    if (!this.#files || this.#problems.length > 0) return;
    const documents = this.#server.documents();
    this.#problems.push(...(await this.#files.problems(documents, this.#keys !== undefined)));
    for (const site of this.#sites) {
      const client = this.world.random.pick(this.#livingOf(site));
      await client.readFiles();
    }
  }

  async #checkViews(when: string): Promise<void> {
    if (this.#problems.length > 0 || !this.#context.relates) return;
    const watched = this.#living.flatMap(({ site, tab, views }) =>
      views ? [{ name: `${when}: tab ${site.number}/${tab.id}`, views }] : [],
    );
    for (const { views } of watched) await this.world.hearInTurns(views.prepare());
    await this.world.runUntil(this.world.now + 5000);
    for (const { name, views } of watched)
      for (const problem of await this.world.hearInTurns(views.problems()))
        this.#problems.push(`${name}: ${problem}`);
  }

  /** Documents change their group, scopes come and go, and rights to them. */
  #regroup(): void {
    const { random } = this.world;
    const living = this.#living;
    if (living.length === 0) return;
    const client = random.pick(living);
    // Without scopes nobody has rights to them.
    const kind = this.#plan.scoped ? random.below(8) : 2;
    const name = JSON.stringify({ g: random.below(GROUPS) });
    if (kind === 0) {
      this.#trace(`right ${name}`);
      this.#server.rights.set(name, (this.#server.rights.get(name) ?? 0) + 1);
    } else if (kind === 1) this.#do(client, () => client.changeScope());
    else this.#do(client, () => client.regroup(random.pick(IDS)));
  }

  /** Something else than a change. */
  #step(): void {
    const { random } = this.world;
    const site = random.pick(this.#sites);
    const { network, browser } = site;
    const living = this.#livingOf(site);
    const client = living.length > 0 ? random.pick(living) : undefined;
    const kind = random.below(this.#plan.crashes ? 20 : 15);
    this.#trace(`step ${kind} of ${site.number}/${client?.tab.id}`);
    if (!client || (kind === 0 && living.length < 3)) this.#openTab(site);
    else if (kind === 1) network.cutUntil = this.world.now + random.between(100, 5000);
    else if (kind === 2) browser.ahead += random.between(-1, 1) * 1e7;
    else if (kind === 3) client.tab.hide(random.between(1, 4000));
    else if (kind < 7) this.#do(client, () => client.save());
    else if (kind === 7) this.#do(client, () => client.settle());
    else if (kind === 8) this.#do(client, async () => this.#rest(client));
    else if (kind === 9 && this.#plan.loads) this.#do(client, () => client.backUp());
    else if (kind === 10 && this.#plan.restores) this.#copy();
    else if (kind === 11 && this.#plan.restores) this.#restore();
    else if (kind === 12) client.wake();
    else if (kind === 13) this.#changeAll(client);
    else if (kind === 14) this.#do(client, async () => this.#rest(client));
    else this.#end(client, kind);
  }

  #rest(client: ReplicationClient): void {
    const { random } = this.world;
    client.sync.pause();
    // What others have changed meanwhile comes as these change here.
    this.world.after(random.between(0, 4000), client.tab, () => {
      this.#changeAll(client);
      client.sync.resume();
    });
  }

  /** Documents change together, while others merge. */
  #changeAll(client: ReplicationClient): void {
    const ids = IDS.toSorted(() => this.world.random.between(-1, 1));
    this.#do(client, () => client.changeAll(ids));
  }

  readonly #copy = (): void => {
    this.#server.copy();
    this.#files?.copy();
  };

  readonly #restore = (): void => {
    const nth = this.#server.restore();
    if (nth === undefined) return;
    this.#log.restores.push(this.#log.mark());
    this.#files?.restore(nth);
    // What changes while all merge with it.
    for (const client of this.#living) {
      this.#changeAll(client);
      for (let count = 3; count > 0; count--)
        this.world.after(this.world.random.between(0, 1000), client.tab, () =>
          this.#changeAll(client),
        );
    }
  };

  #end({ tab }: ReplicationClient, kind: number): void {
    const { random } = this.world;
    if (tab.frozen) return;
    if (kind > 17) this.#log.froze(tab);
    if (kind === 15) tab.kill();
    else if (kind === 16) tab.close();
    else if (kind === 17) tab.quit();
    else if (kind === 18) tab.freeze(random.between(10, FREEZE_MS));
    else tab.rest(random.between(100, 5000));
  }

  #do(client: ReplicationClient, act: () => Promise<unknown>): void {
    this.world.act(client, act, (error) => client.note(error));
  }

  /** Everything works from now on. */
  async #heal(): Promise<void> {
    this.#trace('heal');
    for (const { network } of this.#sites) network.heal();
    if (this.#files) this.#files.crashes = 0;
    this.#server.replays = 0;
    for (const storage of this.#storages) storage.heal();
    await this.world.runUntil(this.world.now + FREEZE_MS + 1000);
    for (const { isEarly, tab } of this.#living) if (isEarly) tab.kill();
    if (this.#keys) this.#keys.isComplete = true;
    for (const site of this.#sites) if (this.#livingOf(site).length === 0) this.#openTab(site);
    // Wakes those that wait for other credentials, too.
    for (const { sync } of this.#living) sync.resume();
    const { rights } = this.#server;
    for (const [name, count] of rights) if (count % 2 === 1) rights.set(name, count + 1);
    if (this.#plan.scoped)
      for (const client of this.#living) this.#do(client, () => client.removeScopes());
    await this.world.runUntil(this.world.now + RETRY_MS);
  }

  /** Lets all settle until nothing changes any more. */
  async #comeToRest(when: string): Promise<Contents[]> {
    let found: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { changes } = this.#server;
      const waiting = new Set(this.#living);
      for (const client of this.#living)
        client
          .settle(ROUND_MS)
          .catch((error) => this.#problems.push(`${when}: ${client.tab.id} ${error}`))
          .finally(() => waiting.delete(client));
      await this.world.runUntil(this.world.now + 2 * ROUND_MS, () => waiting.size === 0);
      if (waiting.size > 0) return this.#fail(`${when}: ${waiting.size} tabs do not settle`);
      const contents = await this.#contents();
      found = contents.flatMap((one) =>
        differences(this.#server, one).map((line) => `${when}: in browser ${one.browser} ${line}`),
      );
      if (this.#problems.length > 0) return [];
      if (found.length === 0 && changes === this.#server.changes) {
        this.#checkStatus(when, contents);
        return contents;
      }
    }
    return this.#fail(...found, `${when}: no rest after ${ROUNDS} rounds`);
  }

  #fail(...problems: string[]): [] {
    this.#problems.push(...problems);
    return [];
  }

  #checkStatus(when: string, contents: readonly Contents[]): void {
    for (const { open, tab, site, sync } of this.#living) {
      const name = `${when}: tab ${site.number}/${tab.id}`;
      if (open > 0) this.#problems.push(`${name}: ${open} calls wait`);
      const { pending, rejected } = sync.status;
      const size = contents.find(({ browser }) => browser === site.number)?.rejected.size;
      if (pending !== 0 || rejected !== size)
        this.#problems.push(`${name}: ${pending} pending, ${rejected} of ${size} rejected`);
    }
  }

  /** What is in storage is the same. */
  async #reload(): Promise<void> {
    if (this.#problems.length > 0) return;
    for (const { tab } of this.#living) tab.kill();
    await this.world.runUntil(this.world.now + 1000);
    for (const site of this.#sites) this.#openTab(site);
    await this.#comeToRest('after a reload');
  }

  /** What one tab of each browser sees. */
  async #contents(): Promise<Contents[]> {
    const all: Contents[] = [];
    for (const site of this.#sites) {
      const client = this.world.random.pick(this.#livingOf(site));
      const read = Promise.all([
        client.orders.filter({}, { archived: true }),
        client.sync.rejected(),
      ]).catch((error) => {
        this.#problems.push(`browser ${site.number} cannot be read: ${error}`);
        return [[], []] as const;
      });
      const [documents, rejected] = await this.world.hear(read);
      all.push({
        browser: site.number,
        documents: new Map(documents.map((one) => [one._id, one])),
        ...(site.scopes && {
          isWanted: (one: object) => site.scopes?.some((scope) => isIn(one, scope)) === true,
        }),
        rejected: new Map(rejected.map((one) => [one.id, one.document])),
      });
    }
    return all;
  }
}
