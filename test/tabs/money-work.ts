import type { DocumentCollection } from '../../src/index.ts';
import type { TabScope } from './page/page.ts';
import { crash, findLeader, type Tab, type TabBrowser } from './tabs.ts';

declare const window: TabScope;

export const ACCOUNTS = ['a', 'b', 'c', 'd', 'e', 'f'];
export const INITIAL = 100;

export interface Account {
  readonly _id: string;
  readonly balance: number;
}

/** An entry of the ledger. Its `_id` is not its name: two of one transfer would both be there. */
export interface Entry {
  readonly transfer: string;
  readonly from: string;
  readonly to: string;
  readonly amount: number;
}

/** A tab that moves money, and what it has reported. */
export interface Mover {
  readonly tab: Tab;
  hasCrashed: boolean;
  /** Transfers that were acknowledged, and those that the tab was told were not made. */
  readonly made: Set<string>;
  readonly refused: Set<string>;
}

/** Tabs that move money; those that lead crash, and new ones open. */
export class MoneyWork {
  readonly movers: Mover[] = [];
  /** Sums that a transaction or a live query has seen, and unexpected errors. */
  readonly wrong: string[] = [];
  /** Right sums, by who has seen them. */
  readonly right = { transaction: 0, live: 0 };
  readonly #browser: TabBrowser;

  private constructor(browser: TabBrowser) {
    this.#browser = browser;
  }

  static async begin(browser: TabBrowser, tabs: number): Promise<MoneyWork> {
    const work = new MoneyWork(browser);
    await browser.context.exposeFunction('say', work.#hear);
    const first = await work.#open();
    await first.evaluate(
      async ([accounts, balance]) => {
        await window.accounts.insertMany(accounts.map((_id) => ({ _id, balance })));
        await window.accounts.save();
      },
      [ACCOUNTS, INITIAL] as const,
    );
    await work.#move(first);
    while (work.movers.length < tabs) await work.add();
    return work;
  }

  get alive(): Mover[] {
    return this.movers.filter(({ hasCrashed }) => !hasCrashed);
  }

  async add(): Promise<void> {
    await this.#move(await this.#open());
  }

  async crashLeader(): Promise<void> {
    const { tab } = await findLeader(() => this.alive);
    await crash(tab);
    await tab.close();
  }

  /** Resolves when every call of every tab has ended. */
  async rest(): Promise<void> {
    await Promise.all(this.alive.map(({ tab }) => tab.evaluate(() => window.rest())));
  }

  async #open(): Promise<Tab> {
    const tab = await this.#browser.tab('connect', 'money');
    await tab.evaluate(() => {
      const { db } = window;
      window.accounts = new db.Collection({ name: 'accounts', type: 'DOCUMENT_BASED' });
      window.ledger = new db.Collection({ name: 'ledger', type: 'DOCUMENT_BASED' });
    });
    return tab;
  }

  async #move(tab: Tab): Promise<void> {
    const mover: Mover = { tab, hasCrashed: false, made: new Set(), refused: new Set() };
    const id = this.movers.push(mover) - 1;
    // Tabs may share a process, and crash with another.
    tab.on('crash', () => {
      mover.hasCrashed = true;
    });
    await tab.evaluate(moveMoney, [id, ACCOUNTS, INITIAL] as const);
  }

  readonly #hear = (id: number, what: string, detail: string): void => {
    const mover = this.movers[id];
    if (what === 'made' || what === 'refused') mover?.[what].add(detail);
    else if (what === 'transaction' || what === 'live') this.right[what]++;
    else this.wrong.push(`tab ${id}: ${what} ${detail}`);
  };
}

/** Runs in a page: moves money, and reads all of it, until the page is stopped. */
function moveMoney([id, names, initial]: readonly [number, readonly string[], number]) {
  const { db, say } = window;
  const accounts: DocumentCollection<Account> = window.accounts;
  const ledger: DocumentCollection<Entry> = window.ledger;
  let resting = false;
  const total = initial * names.length;
  const check = (who: string, all: readonly Account[]) => {
    const sum = all.reduce((before, { balance }) => before + balance, 0);
    return sum === total
      ? say(id, who, '')
      : say(id, `${who} saw`, String(all.map(({ balance }) => balance)));
  };
  const any = (of: readonly string[]) => of[Math.floor(Math.random() * of.length)] as string;
  const pause = () => new Promise((resolve) => setTimeout(resolve, 10));

  const move = async (transfer: string) => {
    const from = any(names);
    const to = any(names.filter((name) => name !== from));
    const amount = 1 + Math.floor(Math.random() * initial);
    await db.transaction(async (tx) => {
      const payer = await tx(accounts).get(from);
      const payee = await tx(accounts).get(to);
      if (!payer || !payee || payer.balance < amount) throw new RangeError('too little');
      await tx(accounts).patch(from, { balance: payer.balance - amount });
      await tx(ledger).insert({ transfer, from, to, amount });
      await tx(accounts).patch(to, { balance: payee.balance + amount });
    });
  };
  const moveAll = async () => {
    for (let n = 1; !resting; n++) {
      const transfer = `${id}/${n}`;
      await move(transfer).then(
        () => say(id, 'made', transfer),
        (error) => {
          const isRefused = error instanceof RangeError || error.code === 'transaction_conflict';
          return say(id, isRefused ? 'refused' : `failed with ${error}`, transfer);
        },
      );
      await pause();
    }
  };
  const readAll = async () => {
    while (!resting) {
      const seen = await db
        .transaction(async (tx) => {
          // One after the other: others move money in between.
          const all: Account[] = [];
          for (const name of names) all.push((await tx(accounts).get(name)) as Account);
          return [all, await tx(accounts).filter({})];
        })
        .catch((error: unknown) => {
          say(id, `reader failed with ${error}`, '');
          return [];
        });
      for (const all of seen) check('transaction', all);
      await pause();
    }
  };
  const live = accounts.live({});
  live.subscribe(() => {
    const { data, error } = live.getSnapshot();
    if (error) say(id, `live query failed with ${error}`, '');
    else if (data) check('live', data);
  });
  const worked = Promise.all([moveAll(), readAll()]);
  window.rest = async () => {
    resting = true;
    await worked;
  };
}
