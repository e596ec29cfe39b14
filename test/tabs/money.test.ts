import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { ACCOUNTS, type Account, type Entry, INITIAL, MoneyWork } from './money-work.ts';
import type { TabScope } from './page/page.ts';
import { openBrowser, type Tab, type TabBrowser } from './tabs.ts';

declare const window: TabScope;

/**
 * `TABS_SECONDS=300 npx vitest run --project tabs test/tabs/money.test.ts` goes on for five
 * minutes.
 */
const SECONDS = Number(process.env.TABS_SECONDS ?? 4 * inject('effort'));
const TABS = 3;

let browser: TabBrowser;

beforeEach(async () => {
  browser = await openBrowser();
});

afterEach(async () => {
  await browser.close();
});

const contents = (tab: Tab) =>
  tab.evaluate(async () => ({
    accounts: (await window.accounts.filter({})) as Account[],
    ledger: (await window.ledger.filter({})) as Entry[],
  }));

/** What the accounts have to hold by the ledger. */
function balancesBy(ledger: readonly Entry[]): Record<string, number> {
  const balances = Object.fromEntries(ACCOUNTS.map((name) => [name, INITIAL]));
  for (const { from, to, amount } of ledger) {
    balances[from] = (balances[from] as number) - amount;
    balances[to] = (balances[to] as number) + amount;
  }
  return balances;
}

test(
  `${TABS} tabs move money for ${SECONDS} s, the leader crashes every 3 s: the sums agree`,
  async () => {
    const work = await MoneyWork.begin(browser, TABS);
    const begun = performance.now();
    for (let due = 3000; due <= SECONDS * 1000; due += 3000) {
      const wait = begun + due - performance.now();
      await new Promise((resolve) => setTimeout(resolve, wait));
      await work.crashLeader();
      while (work.alive.length < TABS) await work.add();
    }
    await work.rest();

    const [first, ...others] = await Promise.all(work.alive.map(({ tab }) => contents(tab)));
    const { accounts, ledger } = first as NonNullable<typeof first>;
    const balances = Object.fromEntries(accounts.map(({ _id, balance }) => [_id, balance]));
    expect(work.wrong).toEqual([]);
    expect(balances).toEqual(balancesBy(ledger));
    expect(Math.min(...Object.values(balances))).toBeGreaterThanOrEqual(0);
    for (const other of others) expect(other).toEqual(first);

    const transfers = new Set(ledger.map(({ transfer }) => transfer));
    expect(transfers.size, 'transfers that were applied twice').toBe(ledger.length);
    for (const { made, refused, hasCrashed } of work.movers) {
      expect([...refused].filter((transfer) => transfers.has(transfer))).toEqual([]);
      // A crashed tab loses its acknowledged unsaved changes.
      if (!hasCrashed) expect([...made].filter((name) => !transfers.has(name))).toEqual([]);
    }
    expect(work.right.transaction).toBeGreaterThan(0);
    expect(work.right.live).toBeGreaterThan(0);
    const crashed = work.movers.length - work.alive.length;
    const { transaction, live } = work.right;
    console.log(
      `${crashed} tabs crashed, ${ledger.length} transfers; sums: ${transaction}, ${live}`,
    );
  },
  (SECONDS + 900) * 1000,
);
