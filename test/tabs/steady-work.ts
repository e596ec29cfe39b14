import type { TabScope } from './page/page.ts';
import { crash, findLeader, type Tab, type TabBrowser } from './tabs.ts';

declare const window: TabScope;

/** The reported progress of a tab. */
export interface Worker {
  readonly id: number;
  readonly tab: Tab;
  /** Rounds that it has started, that were acknowledged, and that are durable. */
  asked: number;
  told: number;
  saved: number;
  end: 'closed' | 'crashed' | undefined;
}

/** Tabs that make changes steadily; the leaders close or crash, and new tabs open. */
export class SteadyWork {
  readonly workers: Worker[] = [];
  readonly #browser: TabBrowser;
  #closes = true;

  private constructor(browser: TabBrowser) {
    this.#browser = browser;
  }

  static async begin(browser: TabBrowser, tabs: number): Promise<SteadyWork> {
    const work = new SteadyWork(browser);
    await browser.context.exposeFunction('say', work.#hear);
    for (let n = 0; n < tabs; n++) await work.add();
    return work;
  }

  get alive(): Worker[] {
    return this.workers.filter(({ end }) => !end);
  }

  async add(): Promise<void> {
    const tab = await this.#browser.tab('connect', 'steady');
    const id = this.workers.length;
    const worker: Worker = { id, tab, asked: 0, told: 0, saved: 0, end: undefined };
    this.workers.push(worker);
    // Tabs may share a process, and crash with another.
    tab.on('crash', () => {
      worker.end = 'crashed';
    });
    await tab.evaluate(goOn, id);
  }

  /** Closes the leading tab or makes it crash, in turns. */
  async endLeader(): Promise<void> {
    const leader = await findLeader(() => this.alive);
    if (this.#closes) {
      leader.end = 'closed';
      await leader.tab.close({ runBeforeUnload: true });
    } else {
      await crash(leader.tab);
      await leader.tab.close();
    }
    this.#closes = !this.#closes;
  }

  /** Resolves when every call of every tab is acknowledged. */
  async rest(): Promise<void> {
    await Promise.all(this.alive.map(({ tab }) => tab.evaluate(() => window.rest())));
  }

  readonly #hear = (id: number, what: 'asked' | 'told' | 'saved', round: number): void => {
    const worker = this.workers[id];
    if (worker) worker[what] = Math.max(worker[what], round);
  };
}

/** Makes changes round by round, until the page is stopped. */
function goOn(id: number) {
  let resting = false;
  // The change was applied, and only its answer was lost: it counts as acknowledged.
  const made = (error: { code?: string }) => {
    if (error.code !== 'answer_lost') throw error;
  };
  const work = async () => {
    for (let round = 1; !resting; round++) {
      window.say(id, 'asked', round);
      await Promise.all([
        window.numbers.increase('all', 1).catch(made),
        window.numbers.increase(`tab ${id}`, 1).catch(made),
        window.things.insert({ _id: `${id}/${round}` }).catch(made),
      ]);
      window.say(id, 'told', round);
      if (round % 10 === 0) await window.db.save().then(() => window.say(id, 'saved', round));
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  };
  window.lives = [window.numbers.live('all'), window.things.liveCount()];
  for (const live of window.lives) live.subscribe(() => {});
  const worked = work();
  window.rest = () => {
    resting = true;
    return worked;
  };
}
