import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import type { KeyValueCollection } from '../../src/page/collections/key-value-collection.ts';
import type { Transaction } from '../../src/page/transactions/transaction-types.ts';
import type { State } from '../serializability/history.ts';
import type { Tab } from './tab.ts';
import {
  type Attempt,
  type CollectionName,
  keyOf,
  type TransactionLog,
} from './transaction-log.ts';
import { INITIAL_ACCOUNTS, type TransactionProgram } from './transaction-program.ts';
import { RolledBack, runProgram, type TransactionCalls } from './transaction-run.ts';
import type { World } from './world.ts';

interface Entry {
  readonly [field: string]: unknown;
}

interface Collections {
  readonly accounts: DocumentCollection<Entry>;
  readonly ledger: DocumentCollection<Entry>;
  readonly counters: KeyValueCollection;
}

/** When the collections are saved; by default early. */
export interface SaveOptions {
  readonly save_timeout?: number;
  readonly save_directly_after?: number;
}

/** What the transactions of a tab need of the simulation. */
export interface ClientContext {
  readonly world: World;
  readonly log: TransactionLog;
  readonly saving: SaveOptions;
  readonly trace: (line: string) => void;
  readonly wrong: (problem: string) => void;
}

/** Codes that a tab may hear of while tabs end and storage fails. */
const ALLOWED = ['storage_failed', 'load_failed', 'answer_lost', 'closed', 'transaction_conflict'];

/** A tab that runs transactions over several collections, and writes down what they saw. */
export class TransactionClient {
  readonly tab: Tab;
  /** Attempts that were acknowledged. */
  readonly committed: string[] = [];
  /** Those of them that are in storage, as a later answer says. */
  readonly saved = new Set<string>();
  /** All attempts. */
  readonly attempts = new Set<string>();
  /** Calls that wait. */
  open = 0;
  /** Whether it ended with the page being told. */
  closed = false;
  /**
   * Whether it heard that a transaction could not be repeated: a document that it changes is gone.
   */
  hasHeardOfRefusal = false;
  readonly #context: ClientContext;
  #collections: Collections;

  constructor(tab: Tab, context: ClientContext) {
    this.tab = tab;
    this.#context = context;
    this.#collections = this.#construct();
    tab.db.on('error', ({ error }) => {
      const { code = '' } = error as { code?: string };
      if (code === 'transaction_conflict') this.hasHeardOfRefusal = true;
      if (!ALLOWED.includes(code)) context.wrong(`tab ${tab.id} hears of ${error}`);
    });
  }

  /** Whether nothing is lost, or comes too late, if the tab says nothing more. */
  get isClean(): boolean {
    const { state, unsaved } = this.tab.db.status;
    // While it looks for a leader, it knows nothing of its own unsaved changes.
    const isSaved = state === 'open' && unsaved === 0;
    return this.open === 0 && (isSaved || this.committed.every((id) => this.saved.has(id)));
  }

  async insertAccounts(): Promise<void> {
    await this.#collections.accounts.insertMany(INITIAL_ACCOUNTS as never);
  }

  async transact(id: string, program: TransactionProgram, durable: boolean): Promise<void> {
    const { log, trace } = this.#context;
    let attempt: Attempt | undefined;
    let attempts = 0;
    let hasReturned = false;
    try {
      await this.tab.db.transaction(
        async (tx) => {
          attempt?.end('aborted');
          hasReturned = false;
          await this.#pause(0);
          attempt = log.begin(`${id}#${++attempts}`);
          this.attempts.add(attempt.id);
          trace(`begin ${attempt.id} in ${this.tab.id}: ${JSON.stringify(program.task)}`);
          const { operations } = attempt;
          const calls = this.#callsOf(tx);
          const pause = (ms: number) => this.#pause(ms);
          await runProgram(program, { id: attempt.id, calls, pause, operations });
          hasReturned = true;
          trace(`returned ${attempt.id}`);
        },
        { durable },
      );
      // Code that comes late comes to tabs that are gone, too.
      if (this.tab.dead) return;
      attempt?.end('committed');
      trace(`committed ${attempt?.id}`);
      if (attempt) this.committed.push(attempt.id);
      if (attempt && durable) this.saved.add(attempt.id);
    } catch (error) {
      if (this.tab.dead) return;
      const { code } = error as { code?: string };
      const isRolledBack = !hasReturned || code === 'transaction_conflict';
      attempt?.end(isRolledBack ? 'aborted' : 'unknown');
      trace(`failed ${attempt?.id}: ${error}`);
      if (!(error instanceof RolledBack)) this.note(error);
    }
  }

  /** Saves all that was committed so far. */
  async save(): Promise<void> {
    const before = [...this.committed];
    await this.tab.db.save();
    for (const id of before) this.saved.add(id);
  }

  /** What all collections hold, in one transaction. */
  read(): Promise<State> {
    // Those that could not be opened while storage failed can be now.
    const { accounts, ledger, counters } = this.#construct();
    return this.tab.db.transaction(async (tx) => {
      const state: Record<string, unknown> = {};
      for (const one of await tx(accounts).filter({}))
        state[keyOf('accounts', one._id)] = plain(one);
      for (const one of await tx(ledger).filter({})) state[keyOf('ledger', one._id)] = plain(one);
      for (const [key, value] of await tx(counters).entries())
        state[keyOf('counters', key)] = value;
      return state;
    });
  }

  /** An error that a call may not reject with is a problem. */
  note(error: unknown): void {
    const { code = '' } = error as { code?: string };
    // One that could not be opened while storage failed can be constructed again.
    if (code === 'storage_failed') this.#collections = this.#construct();
    if (!ALLOWED.includes(code))
      this.#context.wrong(`tab ${this.tab.id}: ${(error as Error)?.stack ?? error}`);
  }

  /** Nothing happens in a tab that is gone or frozen. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#context.world.after(ms, this.tab, resolve));
  }

  #construct(): Collections {
    const { Collection } = this.tab.db;
    const { saving } = this.#context;
    return {
      accounts: new Collection<Entry>({ name: 'accounts', type: 'DOCUMENT_BASED', ...saving }),
      ledger: new Collection<Entry>({ name: 'ledger', type: 'DOCUMENT_BASED', ...saving }),
      // Saved at another time, unless together.
      counters: new Collection({
        ...{ name: 'counters', type: 'KEY_VALUE_BASED', ...saving, save_timeout: 0.5 },
      }),
    };
  }

  #callsOf(tx: Transaction): TransactionCalls {
    const { counters, ...documents } = this.#collections;
    const of = (name: CollectionName) => tx(documents[name as 'accounts' | 'ledger']);
    return {
      get: async (name, id) =>
        name === 'counters' ? tx(counters).get<Entry>(id) : plain(await of(name).get(id)),
      query: async (name, criteria) =>
        (await of(name).filter(criteria as never)).map((one) => plain(one) as Entry),
      insert: (name, document) => of(name).insert(document),
      update: (name, id, document) =>
        name === 'counters' ? tx(counters).set(id, document) : of(name).update(id, document),
      delete: (name, id) => of(name).delete(id),
    };
  }
}

/** A document without managed fields but its id. */
function plain(document: object | undefined): Entry | undefined {
  if (!document) return undefined;
  return Object.fromEntries(
    Object.entries(document).filter(([field]) => field === '_id' || !field.startsWith('_')),
  );
}
