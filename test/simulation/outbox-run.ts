import { vi } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import type { OutboxAction, SendContext } from '../../src/outbox/call-sender.ts';
import { checkActions, Outbox, type QueuedCall } from '../../src/outbox/outbox.ts';
import { OutboxError } from '../../src/outbox/outbox-error.ts';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

/** Milliseconds in which things happen, and then until everything is at rest. */
const BUSY_MS = 3000;
const REST_MS = 90_000;
const LANES = ['x', 'y'];

interface Input {
  readonly _id: string;
  readonly lane: string;
  readonly n: number;
}

interface Counter {
  count: number;
}

/** A call that a tab has made. */
interface Made {
  readonly token: string;
  readonly tab: Tab;
  /** Its key, once it was acknowledged. */
  id?: string;
  /** Whether its change was saved while its tab lived. */
  isSaved: boolean;
  /** How `sent` settled. */
  outcome?: 'sent' | 'refused';
}

interface Page {
  readonly tab: Tab;
  readonly box: Outbox<{ order: Input }>;
  readonly orders: DocumentCollection<Input>;
  readonly counters: DocumentCollection<Counter>;
}

/** A server that does each key once, and refuses what it does not like. */
class Server {
  /** The input of each key that it has done, in order. */
  readonly done = new Map<string, Input>();
  readonly refused = new Map<string, string>();
  /** The keys of each call. */
  readonly keys = new Map<string, Set<string>>();

  take(input: Input, key: string): void {
    const keys = this.keys.get(input._id) ?? new Set();
    this.keys.set(input._id, keys.add(key));
    if (this.done.has(key)) return;
    if (input.n % 5 === 4) {
      this.refused.set(key, input._id);
      throw new OutboxError('call_refused', 'No.');
    }
    this.done.set(key, input);
  }
}

/** How a broken outbox differs. */
export interface Breaks {
  /** What a tab's outbox takes for its database. */
  readonly db?: (tab: Tab) => Tab['db'];
  readonly key?: (key: string) => string;
}

/** A database that differs in what it says, or does. */
export const changedDatabase = (
  change: (db: Tab['db'], name: string | symbol) => unknown,
): Breaks => ({
  db: ({ db }) =>
    new Proxy(db, {
      get(target, name) {
        const value = change(target, name) ?? Reflect.get(target, name, target);
        return typeof value === 'function' && name !== 'Collection' ? value.bind(target) : value;
      },
    }),
});

class OutboxSimulation {
  readonly world: World;
  readonly #browser: Browser;
  readonly #server = new Server();
  readonly #pages: Page[] = [];
  readonly #made: Made[] = [];
  readonly #problems: string[] = [];
  readonly #breaks: Breaks;
  readonly #trace: (line: string) => void;
  #tabs = 0;
  #isCalm = false;
  #hasFrozen = false;

  constructor(seed: number, breaks: Breaks, trace: (line: string) => void) {
    this.world = new World(seed);
    this.#browser = simulateBrowser(this.world);
    this.#breaks = breaks;
    this.#trace = (line) => trace(`${this.world.now.toFixed(1)} ${line}`);
  }

  async run(): Promise<string[]> {
    const { random } = this.world;
    const { weather } = this.#browser.storage;
    if (random.chance(0.5)) weather.slowness = random.between(3, 200);
    this.#open();
    const steps = 8 + random.below(20);
    for (let step = 0; step < steps; step++)
      this.world.after(random.between(0, BUSY_MS), undefined, () => this.#step());
    await this.world.runUntil(BUSY_MS);
    this.#isCalm = true;
    weather.slowness = 3;
    if (this.#living.length === 0) this.#open();
    await this.world.runUntil(BUSY_MS + REST_MS);
    await this.#check('at rest');
    for (const { tab } of this.#living) tab.kill();
    await this.world.runUntil(this.world.now + 1000);
    this.#open();
    await this.#check('after a reload');
    return [...this.#problems, ...this.#browser.storage.violations];
  }

  get #living(): Page[] {
    return this.#pages.filter(({ tab }) => !tab.dead && !tab.closing);
  }

  #step(): void {
    const { random } = this.world;
    const kind = random.below(12);
    const page = this.#living.length > 0 ? random.pick(this.#living) : undefined;
    if (!page || (kind === 0 && this.#living.length < 4)) {
      this.#open();
      return;
    }
    const { tab } = page;
    if (tab.frozen) return;
    if (kind < 8) for (let call = random.below(3); call >= 0; call--) void this.#call(page);
    else if (kind === 8) tab.kill();
    else if (kind === 9) tab.close();
    else if (kind === 10) tab.freeze(random.between(100, 20_000));
    else tab.rest(random.between(100, 8000));
    if (kind > 9) this.#hasFrozen = true;
    if (kind >= 8) this.#trace(`${tab.id} ${['kill', 'close', 'freeze', 'rest'][kind - 8]}`);
  }

  #open(): void {
    const tab = new Tab(this.#tabs++, this.#browser);
    this.#trace(`${tab.id} open`);
    const orders = new tab.db.Collection<Input>({ name: 'orders', type: 'DOCUMENT_BASED' });
    const counters = new tab.db.Collection<Counter>({ name: 'counters', type: 'DOCUMENT_BASED' });
    const count = async (tx: Parameters<NonNullable<OutboxAction['local']>>[0], by: number) => {
      const { count = 0 } = (await tx(counters).get('all')) ?? {};
      await tx(counters).upsert({ _id: 'all', count: count + by });
    };
    const order: OutboxAction<Input> = {
      async local(tx, input) {
        await tx(orders).insert(input);
        await count(tx, 1);
      },
      send: (input, { key, signal }) =>
        this.#send(tab, input, { key: this.#breaks.key?.(key) ?? key, signal }),
      async refused(tx, { _id }) {
        await tx(orders).delete(_id);
        await count(tx, -1);
      },
      lane: ({ lane }) => lane,
    };
    const { world } = this;
    const box = new Outbox<{ order: Input }>(
      this.#breaks.db?.(tab) ?? tab.db,
      checkActions({ order }),
      { collection: 'cairn_outbox', timeout: 5000, sync_tag: undefined },
      {
        clock: {
          now: () => 1_700_000_000_000 + world.now,
          elapsed: () => world.now,
          after: (ms, call) => world.after(ms, tab, call),
        },
        random: () => world.random.next(),
        onReturn: () => () => undefined,
      },
    );
    box.on('status', ({ state, pending, error }) =>
      this.#trace(`  ${tab.id} ${state} ${pending} ${error ?? ''}`),
    );
    box.on('undo_failed', ({ id, error }) => this.#problems.push(`not undone: ${id} ${error}`));
    // As in a page; on a server, databases open with their first call.
    tab.db.ready.catch(() => undefined);
    this.#pages.push({ tab, box, orders, counters });
  }

  async #call({ tab, box }: Page): Promise<void> {
    const n = this.#made.length;
    const made: Made = { token: `o${n}`, tab, isSaved: false };
    this.#made.push(made);
    this.#trace(`${tab.id} call ${made.token}`);
    const input = { _id: made.token, lane: this.world.random.pick(LANES), n };
    let queued: QueuedCall;
    try {
      queued = await box.actions.order(input);
    } catch (error) {
      const { code = '' } = error as { code?: string };
      if (!['closed', 'outbox_stopped', 'transaction_conflict'].includes(code))
        this.#problems.push(`call ${made.token}: ${error}`);
      return;
    }
    made.id = queued.id;
    this.#trace(`${tab.id} called ${made.token} ${queued.id}`);
    queued.sent.then(
      () => {
        made.outcome = 'sent';
      },
      (error: OutboxError) => {
        if (error.code === 'call_refused') made.outcome = 'refused';
      },
    );
    await tab.db.save().catch(() => undefined);
    if (!tab.dead) made.isSaved = true;
  }

  /** A request over a network that loses requests and answers, and delays them. */
  #send(tab: Tab, input: Input, { key, signal }: SendContext): Promise<void> {
    const { random } = this.world;
    const time = () => random.between(1, !this.#isCalm && random.chance(0.2) ? 4000 : 60);
    const [isLost, isUnanswered, isSilent] = this.#isCalm
      ? [false, false, false]
      : [random.chance(0.15), random.chance(0.2), random.chance(0.3)];
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      const fail = () => {
        if (!isSilent) this.world.after(time(), tab, () => reject(new TypeError('no network')));
      };
      if (isLost) return fail();
      this.world.after(time(), undefined, () => {
        let refusal: unknown;
        try {
          this.#server.take(input, key);
        } catch (error) {
          refusal = error;
        }
        this.#trace(`server ${input._id} ${key} ${refusal ? 'refused' : ''}`);
        if (isUnanswered) return fail();
        this.world.after(time(), tab, () => (refusal ? reject(refusal) : resolve()));
      });
    });
  }

  async #check(when: string): Promise<void> {
    const wrong = (what: string) => this.#problems.push(`${when}: ${what}`);
    const [page] = this.#living;
    if (!page) return void wrong('no tab lives');
    const { orders, counters, box } = page;
    const found = await this.world.hear(
      Promise.all([orders.filter({}), counters.get('all'), box.pending.live().ready]),
      10_000,
    );
    const [all, counter, { data: pending }] = found;
    if (pending.length > 0) wrong(`${pending.length} calls wait`);
    const { done, refused, keys } = this.#server;
    for (const [token, each] of keys) if (each.size > 1) wrong(`${token} has ${each.size} keys`);
    const local = all.map(({ _id }) => _id);
    const there = Array.from(done.values(), ({ _id }) => _id);
    if (`${local.toSorted()}` !== `${there.toSorted()}`)
      wrong(`local ${local.toSorted()}, server ${there.toSorted()}`);
    // A leader that was frozen acknowledges more before it learns of another one, and its values
    // are reapplied there.
    if (!this.#hasFrozen && (counter?.count ?? 0) !== there.length)
      wrong(`${counter?.count} of ${there.length}`);
    for (const lane of LANES) {
      const here = all.filter((one) => one.lane === lane).map(({ _id }) => _id);
      const sent = [...done.values()].filter((one) => one.lane === lane).map(({ _id }) => _id);
      if (`${here}` !== `${sent}`) wrong(`order here ${here}, there ${sent}`);
    }
    const undone = new Set(refused.values());
    for (const { token, isSaved, outcome, tab } of this.#made) {
      const isThrough = there.includes(token) ? 'sent' : undone.has(token) ? 'refused' : undefined;
      if (isSaved && !isThrough) wrong(`${token} is lost`);
      if (outcome && outcome !== isThrough) wrong(`${token} ${isThrough}, told ${outcome}`);
      const isAwaited = isSaved && !tab.dead && !tab.closing;
      if (isAwaited && !outcome) wrong(`${token} was not told that it is ${isThrough}`);
    }
  }
}

/**
 * Runs tabs that call a server through an outbox, end, freeze and lose the network as the seed has
 * it.
 *
 * @returns what was wrong.
 */
export async function runOutbox(
  seed: number,
  breaks: Breaks = {},
  trace: (line: string) => void = () => undefined,
): Promise<string[]> {
  const simulation = new OutboxSimulation(seed, breaks, trace);
  const { world } = simulation;
  const after = vi
    .spyOn(systemClock, 'after')
    .mockImplementation((ms, call) => world.after(ms, undefined, call));
  try {
    return await simulation.run();
  } finally {
    after.mockRestore();
  }
}
