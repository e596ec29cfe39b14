import { expect, test } from 'vitest';
import type { CairnError } from '../../src/errors/errors.ts';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

/** Nothing is saved but by `save()`, and with a checkpoint. */
const open = ({ db }: Tab) => {
  const options = {
    type: 'DOCUMENT_BASED',
    save_timeout: 3600,
    save_directly_after: 1000,
  } as const;
  return {
    accounts: new db.Collection<{ n: number }>({ name: 'accounts', ...options }),
    entries: new db.Collection<{ n: number }>({ name: 'entries', ...options }),
  };
};

const CHANGES = ['update', 'patch', 'archive'] as const;
type Change = (typeof CHANGES)[number];

/** Changes an account, and makes an entry of it. */
function change({ db }: Tab, { accounts, entries }: ReturnType<typeof open>, how: Change) {
  return db.transaction(async (tx) => {
    if (how === 'archive') await tx(accounts).archive('a');
    else await tx(accounts)[how]('a', { n: 1 });
    await tx(entries).insert({ _id: 'e', n: 1 });
  });
}

function codesOf({ db }: Tab): string[] {
  const codes: string[] = [];
  db.on('error', ({ error }) => codes.push((error as CairnError).code));
  return codes;
}

async function contents(world: World, { accounts, entries }: ReturnType<typeof open>) {
  const all = await world.hear(Promise.all([accounts.filter({}), entries.filter({})]), 10_000);
  return all.map((found) => found.map(({ _id }) => _id).join());
}

/** A leader and another tab, with an account that is saved. */
async function twoTabs(isArchived = false) {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const leader = new Tab(0, browser);
  const codes = codesOf(leader);
  const first = open(leader);
  await world.hear(first.accounts.insert({ _id: 'a', n: 0 }));
  if (isArchived) await world.hear(first.accounts.archive('a'));
  await world.hear(leader.db.save());
  const second = open(new Tab(1, browser));
  await world.hear(second.accounts.ready);
  // Let it write its checkpoint: that would save the next change.
  await world.runUntil(world.now + 5000);
  return { world, leader, codes, first, second };
}

/** The leader freezes, the other tab acts, and the leader wakes up. */
async function outlive(
  { world, leader }: Awaited<ReturnType<typeof twoTabs>>,
  act: () => Promise<boolean>,
): Promise<void> {
  leader.freeze(20_000);
  expect(await world.hear(act(), 10_000)).toBe(true);
  await world.runUntil(world.now + 30_000);
}

test.each(CHANGES)(
  'a transaction of a leader that was frozen is not repeated in part once others have deleted what it changes: %s',
  async (how) => {
    const tabs = await twoTabs();
    const { world, leader, codes, first, second } = tabs;
    await world.hear(change(leader, first, how), 10);
    await outlive(tabs, () => second.accounts.delete('a'));
    expect(await contents(world, second)).toEqual(['', '']);
    expect(codes).toContain('transaction_conflict');
  },
);

test.each([...CHANGES, 'unarchive'] as const)(
  'a change of a leader that was frozen is told as lost once others have deleted its document: %s',
  async (how) => {
    const tabs = await twoTabs(how === 'unarchive');
    const { world, codes, first, second } = tabs;
    const { accounts } = first;
    const isFlag = how === 'archive' || how === 'unarchive';
    const made = isFlag ? accounts[how]('a') : accounts[how]('a', { n: 1 });
    expect(await world.hear<unknown>(made, 10)).toBeTruthy();
    await outlive(tabs, () => second.accounts.delete('a'));
    expect(codes).toEqual(['change_lost']);
  },
);

test.each(['archive', 'delete'] as const)(
  'nothing is lost with a leader that was frozen where others have done the same: %s',
  async (how) => {
    const tabs = await twoTabs();
    const { world, codes, first, second } = tabs;
    expect(await world.hear(first.accounts[how]('a'), 10)).toBe(true);
    await outlive(tabs, () => second.accounts[how]('a'));
    expect(codes).toEqual([]);
  },
);

test.each(CHANGES)(
  'a transaction is acknowledged when what it has read of another tab is saved: %s',
  async (how) => {
    const world = new World(1);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    const first = open(leader);
    await world.hear(first.accounts.ready);
    await world.hear(leader.db.save());
    const other = new Tab(1, browser);
    const codes = codesOf(other);
    const second = open(other);
    await world.hear(second.accounts.ready);
    await world.hear(first.accounts.insert({ _id: 'a', n: 0 }), 10);
    await world.hear(change(other, second, how), 100);
    leader.kill();
    await world.runUntil(world.now + 10_000);
    expect(await contents(world, second)).toEqual([how === 'archive' ? '' : 'a', 'e']);
    expect(codes).toEqual([]);
  },
);
