import { expect, test } from 'vitest';
import type { BaseClient } from '../../src/page/client/base-client.ts';
import { simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const MOMENTS = 41;
const JOBS = 12;
const VISITS = 4;
const LEADER = 'leader';
const PATHS = ['a', 'b', 'c'];

interface Job {
  n: number;
  state: string;
  by?: string;
}

interface Page {
  path: string;
  visits: number;
}

/** Saved by early saves, or not at all: then followers repeat all that they did. */
const open = ({ db }: { readonly db: BaseClient }, isSaved: boolean) => {
  const saving = isSaved ? {} : { save_timeout: 3600, save_directly_after: 1000 };
  const options = { type: 'DOCUMENT_BASED', ...saving } as const;
  return {
    jobs: new db.Collection<Job>({ name: 'jobs', indexes: ['state'], ...options }),
    pages: new db.Collection<Page>({ name: 'pages', ...options }),
    tickets: new db.Collection<{ n: number }>({ name: 'tickets', ...options }),
  };
};

type Collections = ReturnType<typeof open>;

/** What tabs heard. */
class Heard {
  /** The job that each attempt got, by a name of its own. */
  readonly taken = new Map<string, string>();
  /** Attempts that were made, and whose answer was lost. */
  readonly lost = new Set<string>();
  /** The tickets that it deleted. */
  readonly tickets: string[] = [];
  attempts = 0;
  visits = 0;
  /** Tickets whose answer was lost. */
  missed = 0;
  readonly #named: string;
  readonly #work: () => Promise<void>;

  /** @param work What a job takes. */
  constructor(named: string, work: () => Promise<void>) {
    this.#named = named;
    this.#work = work;
  }

  /** Takes jobs until none is left. */
  async drain({ jobs }: Collections): Promise<void> {
    for (;;) {
      const by = `${this.#named}.${++this.attempts}`;
      try {
        const changes = { $set: { state: 'taken', by } };
        const job = await jobs.patchOne({ state: 'open' }, changes, { sort: { n: 1 } });
        if (!job) return;
        this.taken.set(by, job._id);
        await this.#work();
      } catch (error) {
        this.#noteLost(error);
        this.lost.add(by);
      }
    }
  }

  async visit({ pages }: Collections, path: string): Promise<void> {
    try {
      await pages.patchOne({ path }, { $inc: { visits: 1 } }, { upsert: true });
    } catch (error) {
      this.#noteLost(error);
    }
    this.visits++;
  }

  /** Deletes tickets, the last first, until none is left. */
  async collect({ tickets }: Collections): Promise<void> {
    for (;;) {
      try {
        const ticket = await tickets.deleteOne({}, { sort: { n: -1 } });
        if (!ticket) return;
        this.tickets.push(ticket._id);
        await this.#work();
      } catch (error) {
        this.#noteLost(error);
        this.missed++;
      }
    }
  }

  #noteLost(error: unknown): void {
    if ((error as { code?: string }).code !== 'answer_lost') throw error;
  }
}

/**
 * Three tabs drain a queue, and count visits, while something happens to their leader.
 *
 * @param drains Whether the leader drains it too, whose jobs may be lost with it.
 */
async function expectAll(
  seed: number,
  happen: (leader: Tab) => void,
  drains: boolean,
): Promise<void> {
  const world = new World(seed);
  const browser = simulateBrowser(world);
  const leader = new Tab(0, browser);
  const first = open(leader, seed % 2 > 0);
  const made = Array.from({ length: JOBS }, (_, n) => ({ _id: `j${n}`, n, state: 'open' }));
  await world.hear(first.jobs.insertMany(made));
  await world.hear(first.tickets.insertMany(made));
  await world.hear(leader.db.save());
  const others = [1, 2, 3].map((id) => new Tab(id, browser));
  const tabs = others.map((tab) => open(tab, seed % 2 > 0));
  await world.hear(
    Promise.all(tabs.flatMap((tab) => Object.values(tab).map(({ ready }) => ready))),
  );
  const heardBy = (named: string, tab: Tab) =>
    new Heard(named, () => new Promise((done) => world.after(1, tab, done)));
  if (drains) void heardBy(LEADER, leader).drain(first);
  const heard = others.map((tab) => heardBy(`t${tab.id}`, tab));
  const work = Promise.all(
    tabs.flatMap((tab, at) => {
      const own = heard[at] as Heard;
      const visits = PATHS.flatMap((path) =>
        Array.from({ length: VISITS }, () => own.visit(tab, path)),
      );
      return [own.drain(tab), own.collect(tab), ...visits];
    }),
  );
  await world.runUntil(world.now + (seed % MOMENTS) / 3);
  happen(leader);
  await world.hear(work, 60_000);
  const [{ jobs, pages, tickets }] = tabs as [Collections];
  const found = Promise.all([jobs.filter({}), pages.filter({}), tickets.count()]);
  const [allJobs, allPages, left] = await world.hear(found, 10_000);

  const taken = heard.flatMap((one) => [...one.taken]);
  const lost = new Set(heard.flatMap((one) => [...one.lost]));
  // What the leader took alone is there again, perhaps after the others have ended.
  const isLost = (by = LEADER) => lost.has(by) || (drains && by.startsWith(LEADER));
  const owners = allJobs.map(({ _id, by }) => [by, _id]);
  // Each job has the attempt that was told so, or one whose answer was lost.
  const untold = owners.filter(([by]) => !isLost(by));
  expect([seed, untold.sort()]).toEqual([seed, taken.sort()]);
  const names = owners.flatMap(([by]) => by ?? []);
  expect(new Set(names).size).toBe(names.length);
  expect([seed, allPages.map(({ path }) => path).sort()]).toEqual([seed, PATHS]);
  const collected = heard.flatMap((one) => one.tickets);
  expect([seed, new Set(collected).size]).toEqual([seed, collected.length]);
  const missed = heard.reduce((sum, one) => sum + one.missed, 0);
  expect([seed, collected.length + missed + left]).toEqual([seed, JOBS]);
  const visits = allPages.reduce((sum, page) => sum + page.visits, 0);
  expect([seed, visits]).toEqual([seed, heard.reduce((sum, one) => sum + one.visits, 0)]);
}

test.each<[string, (leader: Tab) => void, drains: boolean]>([
  ['ends', (leader) => leader.kill(), true],
  ['is closed', (leader) => leader.close(), true],
  ['is frozen', (leader) => leader.freeze(8000), false],
  ['is quit', (leader) => leader.quit(), true],
])(
  'of three tabs each job is taken and each ticket deleted once, each upsert makes one document, whenever their leader %s',
  async (_, happen, drains) => {
    for (const seed of seedsOf(40)) await expectAll(seed, happen, drains);
  },
);
