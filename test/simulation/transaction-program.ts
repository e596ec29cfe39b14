import type { Random } from '../setup/random.ts';

/** Few, so that transactions meet. */
const ACCOUNTS = ['a1', 'a2', 'a3', 'a4'] as const;
const OWNERS = ['ann', 'ben', 'cid'] as const;
const COUNTERS = ['c1', 'c2'] as const;
/** What all balances add up to, always. */
export const TOTAL = 400;

export interface Account {
  readonly _id: string;
  readonly owner: string;
  readonly balance: number;
  /** Makes each version unique. */
  readonly token: string;
}

/** A transfer, as the ledger keeps it. */
export interface LedgerEntry {
  readonly _id: string;
  readonly account: string;
  readonly amount: number;
}

export interface Counter {
  readonly n: number;
  readonly token: string;
}

/** What a transaction does. */
export type Task =
  /** Moves an amount, with an entry in the ledger. */
  | {
      readonly kind: 'transfer';
      readonly from: string;
      readonly to: string;
      readonly amount: number;
    }
  /** Reads all accounts, and the ledger of one. */
  | { readonly kind: 'audit'; readonly account: string }
  /** Opens an account, unless the owner has a second one: two at once are a phantom. */
  | { readonly kind: 'open'; readonly owner: string }
  /** Deletes an account, and moves its balance. */
  | { readonly kind: 'close'; readonly account: string; readonly to: string }
  /** Takes an amount from the first of the accounts that have so much: a query over a range. */
  | {
      readonly kind: 'collect';
      readonly atLeast: number;
      readonly to: string;
    }
  /** Deletes what the ledger has of an account, and counts it. */
  | { readonly kind: 'clear'; readonly account: string; readonly counter: string }
  /** Counts one more, in a key-value collection. */
  | { readonly kind: 'count'; readonly counter: string }
  /** Changes one account after it has read another: two the other way round are write skew. */
  | {
      readonly kind: 'tag';
      readonly seen: string;
      readonly changed: string;
    };

export interface TransactionProgram {
  readonly task: Task;
  /** Milliseconds before each call, used in turn. */
  readonly pauses: readonly number[];
  /** Whether the callback throws at its end, which rolls back. */
  readonly rollsBack: boolean;
  /** Whether it reads again what it has written. */
  readonly rereads: boolean;
}

export const INITIAL_ACCOUNTS: readonly Account[] = ACCOUNTS.map((_id, index) => ({
  _id,
  owner: OWNERS[index % OWNERS.length] as string,
  balance: TOTAL / ACCOUNTS.length,
  token: `initial ${_id}`,
}));

/** The next program of a seed. */
export function nextProgram(random: Random): TransactionProgram {
  return {
    task: nextTask(random),
    pauses: Array.from({ length: 3 }, () => (random.chance(0.5) ? 0 : random.below(20))),
    rollsBack: random.chance(0.05),
    rereads: random.chance(0.3),
  };
}

function nextTask(random: Random): Task {
  const [account, other] = pickTwo(random, ACCOUNTS);
  const counter = random.pick(COUNTERS);
  const amount = 1 + random.below(30);
  const kind = random.below(16);
  if (kind < 5) return { kind: 'transfer', from: account, to: other, amount };
  if (kind < 7) return { kind: 'audit', account };
  if (kind < 9) return { kind: 'open', owner: random.pick(OWNERS) };
  if (kind < 10) return { kind: 'close', account, to: other };
  if (kind < 12) return { kind: 'collect', atLeast: 80 + random.below(60), to: other };
  if (kind < 13) return { kind: 'clear', account, counter };
  if (kind < 14) return { kind: 'count', counter };
  return { kind: 'tag', seen: account, changed: other };
}

function pickTwo(random: Random, ids: readonly string[]): [string, string] {
  const first = random.below(ids.length);
  const second = (first + 1 + random.below(ids.length - 1)) % ids.length;
  return [ids[first] as string, ids[second] as string];
}
