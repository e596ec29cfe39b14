import { Database } from '../../../src/index.ts';
import { type Remote, type Replication, replicate } from '../../../src/replication/index.ts';
import type { Random } from '../../setup/random.ts';
import type { Contents } from '../../simulation/replication-checks.ts';
import type { Change, Parts, ReplicationLog } from '../../simulation/replication-log.ts';
import { tokenOf, tokensIn } from '../../simulation/replication-tokens.ts';
import { type FaultyDriver, faultyDriver } from '../../storage/faulty-driver.ts';
import type { FlakyNetwork } from './flaky-network.ts';

/** What the clients of a story have in common. */
export interface ReplicaContext {
  readonly random: Random;
  readonly log: ReplicationLog;
  readonly trace: (line: string) => void;
  /** Documents of pushes that ended without an answer: they may take effect later. */
  readonly late: Set<string>;
}

/** Nothing ends or freezes the process of these clients. */
const TAB = { dead: false, frozenUntil: 0 };

/**
 * A client with one collection that replicates, and keeps its data when it is closed and opened
 * again.
 */
export abstract class Replica {
  readonly number: number;
  readonly network: FlakyNetwork;
  protected readonly random: Random;
  readonly #context: ReplicaContext;
  readonly #remote: Remote;
  readonly #name: string;
  readonly #storage: FaultyDriver = faultyDriver();
  readonly #calls = new Set<Promise<void>>();
  #tokens = 0;
  #db!: Database;
  #sync!: Replication<object>;

  constructor(
    name: string,
    number: number,
    network: FlakyNetwork,
    remote: Remote,
    context: ReplicaContext,
  ) {
    this.#name = `${name}/${number}`;
    this.number = number;
    this.network = network;
    this.random = context.random;
    this.#context = context;
    this.#remote = this.#watched(remote);
  }

  /** Opens the collection in a database. */
  protected abstract openIn(db: Database): Parameters<typeof replicate>[0];
  /** Makes a change with values that nobody else writes. */
  protected abstract makeChange(ids: readonly string[]): Promise<void>;
  abstract insert(ids: readonly string[]): Promise<void>;
  /** All documents as the server would have them. */
  protected abstract documents(): Promise<Map<string, object>>;

  get sync(): Replication<object> {
    return this.#sync;
  }

  open(): void {
    this.#db = new Database({ name: this.#name, storage: this.#storage });
    const sync = replicate(this.openIn(this.#db), { remote: this.#remote });
    this.#sync = sync as Replication<object>;
    sync.on('conflict', (conflict) => {
      this.#context.trace(`  ${this.number} conflict ${JSON.stringify(conflict)}`);
      this.#context.log.decided(this.number, conflict);
    });
    sync.on('status', ({ state, pending, error }) =>
      this.#context.trace(`  ${this.number} ${state} ${pending} ${error ?? ''}`),
    );
  }

  change(ids: readonly string[]): void {
    const call = this.makeChange(ids).finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  /** Resolves when all calls have returned. */
  async quiet(): Promise<void> {
    await Promise.all(this.#calls);
  }

  async close(): Promise<void> {
    await this.quiet();
    await this.#sync.stop();
    await this.#db.close();
  }

  async contents(): Promise<Contents> {
    const rejected = await this.#sync.rejected();
    return {
      browser: this.number,
      documents: await this.documents(),
      rejected: new Map(rejected.map(({ id, document }) => [id, document])),
    };
  }

  protected token(): string {
    this.#tokens += 1;
    return tokenOf(`${this.number}`, this.#tokens, false);
  }

  /** Notes a change; `run` resolves with whether it changed something. */
  protected async note(what: string, parts: Parts, run: () => Promise<boolean>): Promise<void> {
    const { log, trace } = this.#context;
    trace(`${this.number} ${what}`);
    const change: Change = log.begin(this.number, TAB, parts);
    try {
      log.end(change, (await run()) ? 'acknowledged' : 'refused');
    } catch (error) {
      log.end(change, 'refused');
      if ((error as { code?: string }).code !== 'id_taken') throw error;
    }
    trace(`${this.number} ${what}: ${change.status}`);
  }

  /** The same remote, with notes of what it sends and gets. */
  #watched(remote: Remote): Remote {
    const { log, late } = this.#context;
    return {
      id: remote.id,
      pull: async (after, ask) => {
        const page = await remote.pull(after, ask);
        if (page.changes.length > 0 || page.reset)
          this.#context.trace(`  ${this.number} pulls ${JSON.stringify(page)}`);
        log.delivered(this.number, tokensIn(page), page);
        return page;
      },
      push: async (rows, ask) => {
        const answered = log.pushed(this.number, TAB, rows);
        const { trace } = this.#context;
        trace(`  ${this.number} pushes ${JSON.stringify(rows)}`);
        try {
          const results = await remote.push(rows, ask);
          trace(`  ${this.number} is answered ${JSON.stringify(results)}`);
          answered();
          log.delivered(this.number, tokensIn(results));
          return results;
        } catch (error) {
          for (const { id } of rows) late.add(id);
          throw error;
        }
      },
      ...(remote.watch && { watch: (after, ask) => remote.watch!(after, ask) }),
    } as Remote;
  }
}
