import type { Operation } from '../serializability/history.ts';
import { type CollectionName, keyOf } from './transaction-log.ts';
import type { Account, Counter, LedgerEntry, TransactionProgram } from './transaction-program.ts';

export type Criteria = Readonly<Record<string, string | { readonly $gte: number }>>;

type Entry = Readonly<Record<string, unknown>>;

/** The calls of a transaction. Documents come and go without managed fields other than `_id`. */
export interface TransactionCalls {
  get(collection: CollectionName, id: string): Promise<Entry | undefined>;
  query(collection: CollectionName, criteria: Criteria): Promise<readonly Entry[]>;
  insert(collection: CollectionName, document: Entry & { readonly _id: string }): Promise<unknown>;
  /** Replaces a document, or sets a value. */
  update(collection: CollectionName, id: string, document: Entry): Promise<unknown>;
  delete(collection: CollectionName, id: string): Promise<unknown>;
}

/** Thrown at the end of a program that rolls back. */
export class RolledBack extends Error {}

/** Where a program runs. */
export interface RunContext {
  /** Unique: tokens and the ids of new documents begin with it. */
  readonly id: string;
  readonly calls: TransactionCalls;
  readonly pause: (ms: number) => Promise<void>;
  /** Takes each operation once it was answered. */
  readonly operations: Operation[];
}

/** Runs a program once, as the callback of a transaction. */
export async function runProgram(program: TransactionProgram, context: RunContext): Promise<void> {
  await new ProgramRun(program, context).run();
  if (program.rollsBack) throw new RolledBack();
}

class ProgramRun {
  readonly #program: TransactionProgram;
  readonly #context: RunContext;
  #calls = 0;
  #tokens = 0;

  constructor(program: TransactionProgram, context: RunContext) {
    this.#program = program;
    this.#context = context;
  }

  async run(): Promise<void> {
    const { task } = this.#program;
    switch (task.kind) {
      case 'transfer':
        return this.#transfer(task.from, task.to, task.amount);
      case 'audit':
        await this.#query('accounts', {});
        await this.#query('ledger', { account: task.account });
        return;
      case 'open': {
        const owned = await this.#query('accounts', { owner: task.owner });
        const document = { _id: this.#token(), owner: task.owner, balance: 0 };
        if (owned.length < 2) await this.#insert('accounts', { ...document, token: document._id });
        return;
      }
      case 'close': {
        const account = await this.#get<Account>('accounts', task.account);
        if (!account || !(await this.#add(task.to, account.balance))) return;
        return this.#delete('accounts', task.account);
      }
      case 'collect': {
        const rich = await this.#query<Account>('accounts', { balance: { $gte: task.atLeast } });
        const [first] = rich.toSorted((a, b) => (a._id < b._id ? -1 : 1));
        return first && first._id !== task.to ? this.#transfer(first._id, task.to, 7) : undefined;
      }
      case 'clear': {
        const entries = await this.#query<LedgerEntry>('ledger', { account: task.account });
        for (const { _id } of entries) await this.#delete('ledger', _id);
        return this.#count(task.counter, entries.length);
      }
      case 'count':
        return this.#count(task.counter, 1);
      case 'tag': {
        if (await this.#get('accounts', task.seen)) await this.#add(task.changed, 0);
      }
    }
  }

  async #transfer(from: string, to: string, amount: number): Promise<void> {
    const source = await this.#get<Account>('accounts', from);
    if (!source || source.balance < amount || !(await this.#add(to, amount))) return;
    const { owner, balance } = source;
    await this.#update('accounts', from, { owner, balance: balance - amount });
    await this.#insert('ledger', { _id: this.#token(), account: from, amount });
  }

  async #add(id: string, amount: number): Promise<boolean> {
    const account = await this.#get<Account>('accounts', id);
    if (!account) return false;
    const { owner, balance } = account;
    await this.#update('accounts', id, { owner, balance: balance + amount });
    return true;
  }

  async #count(id: string, more: number): Promise<void> {
    const counter = await this.#get<Counter>('counters', id);
    await this.#update('counters', id, { n: (counter?.n ?? 0) + more });
  }

  async #get<T = Entry>(collection: CollectionName, id: string): Promise<T | undefined> {
    const value = await (await this.#next()).get(collection, id);
    this.#context.operations.push({ kind: 'read', key: keyOf(collection, id), value });
    return value as T | undefined;
  }

  async #query<T = Entry>(collection: CollectionName, criteria: Criteria): Promise<readonly T[]> {
    const found = await (await this.#next()).query(collection, criteria);
    const pairs = found.map((entry) => [keyOf(collection, entry._id as string), entry] as const);
    const isIn = (key: string) => key.startsWith(keyOf(collection, ''));
    this.#context.operations.push({
      kind: 'query',
      keysAndValues: Object.fromEntries(pairs),
      predicate: (key, value) => isIn(key) && isMatch(value as Entry, criteria),
      text: `${collection} ${JSON.stringify(criteria)}`,
    });
    return found as unknown as readonly T[];
  }

  async #insert(collection: CollectionName, value: Entry & { _id: string }): Promise<void> {
    const calls = await this.#next();
    this.#write(collection, value._id, value);
    await calls.insert(collection, value);
    await this.#reread(collection, value._id);
  }

  async #update(collection: CollectionName, id: string, fields: Entry): Promise<void> {
    const calls = await this.#next();
    const value = { ...fields, token: this.#token() };
    this.#write(collection, id, collection === 'counters' ? value : { _id: id, ...value });
    await calls.update(collection, id, value);
    await this.#reread(collection, id);
  }

  async #delete(collection: CollectionName, id: string): Promise<void> {
    const calls = await this.#next();
    this.#write(collection, id, undefined);
    await calls.delete(collection, id);
    await this.#reread(collection, id);
  }

  /** Logged before the answer: a page that dies in between may have written. */
  #write(collection: CollectionName, id: string, value: Entry | undefined): void {
    this.#context.operations.push({ kind: 'write', key: keyOf(collection, id), value });
  }

  async #reread(collection: CollectionName, id: string): Promise<void> {
    if (this.#program.rereads) await this.#get(collection, id);
  }

  async #next(): Promise<TransactionCalls> {
    const { pauses } = this.#program;
    await this.#context.pause(pauses[this.#calls++ % pauses.length] ?? 0);
    return this.#context.calls;
  }

  #token(): string {
    return `${this.#context.id}.${++this.#tokens}`;
  }
}

/** Whether a document matches: what the queries of programs need of criteria. */
export function isMatch(entry: Entry, criteria: Criteria): boolean {
  return Object.entries(criteria).every(([field, wanted]) =>
    typeof wanted === 'string' ? entry[field] === wanted : (entry[field] as number) >= wanted.$gte,
  );
}
