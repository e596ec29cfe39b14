import { Random } from '../../setup/random.ts';
import {
  type Contents,
  differences,
  ReplicationChecker,
} from '../../simulation/replication-checks.ts';
import { ReplicationLog } from '../../simulation/replication-log.ts';
import { tokenOf, tokensIn } from '../../simulation/replication-tokens.ts';
import { DocumentReplica } from './document-replica.ts';
import { FlakyNetwork } from './flaky-network.ts';
import { KeyValueReplica } from './key-value-replica.ts';
import type { RealServer } from './real-server.ts';
import type { Replica, ReplicaContext } from './replica.ts';

const IDS = ['a', 'b', 'c', 'd', 'e'];
/** Rounds until all must be equal. */
const ROUNDS = 8;
/** Longer than a request may take, and the longest wait for a retry. */
const ROUND_MS = 150_000;

/**
 * A run of two to four clients with a real server, while networks and the server fail as the seed
 * has it.
 */
export class ReplicaStory {
  readonly #server: RealServer;
  readonly #collection: string;
  readonly #random: Random;
  readonly #log = new ReplicationLog(true);
  readonly #context: ReplicaContext;
  readonly #replicas: Replica[] = [];
  readonly #lost = new Set<string>();
  readonly #ids: readonly string[];
  readonly #trace: (line: string) => void;
  /** Whether another program writes documents too. */
  #hasNeighbour = false;
  #neighbours = 0;

  constructor(server: RealServer, name: string, seed: number) {
    this.#server = server;
    this.#random = new Random(seed);
    this.#collection = `${name}-${seed}`;
    this.#trace = process.env.TRACE
      ? (line) => console.log(`${this.#collection}: ${line}`)
      : () => undefined;
    this.#ids = IDS.slice(0, 1 + this.#random.below(IDS.length));
    const late = new Set<string>();
    this.#context = { random: this.#random, log: this.#log, trace: this.#trace, late };
    server.onUp.add(this.#resume);
  }

  /** Those that are online try again, without a delay that no test can wait for. */
  readonly #resume = (): void => {
    this.#trace('the server is up');
    for (const { network, sync } of this.#replicas)
      if (!network.isCut && sync.status.state !== 'paused') sync.resume();
  };

  /** Opens the clients. */
  async begin(): Promise<void> {
    const random = this.#random;
    const count = 2 + random.below(3);
    const Kind = random.chance(0.6) ? DocumentReplica : KeyValueReplica;
    // It knows no keys and values.
    this.#hasNeighbour = Kind === DocumentReplica;
    for (let number = 0; number < count; number++) {
      let network!: FlakyNetwork;
      const remote = await this.#server.remote(this.#collection, (fetch) => {
        network = new FlakyNetwork(fetch);
        return network.fetch;
      });
      const replica = new Kind(this.#collection, number, network, remote, this.#context);
      replica.open();
      this.#replicas.push(replica);
    }
    if (random.chance(0.2)) return;
    const [first] = this.#replicas as [Replica];
    await first.insert(IDS);
    for (const { sync } of this.#replicas) await sync.settled({ timeout: ROUND_MS });
  }

  /** Lets things happen. */
  async act(): Promise<void> {
    const random = this.#random;
    for (let step = 20 + random.below(40); step > 0; step--) {
      const replica = random.pick(this.#replicas);
      if (random.chance(0.7)) replica.change(this.#ids);
      else await this.#disturb(replica);
      if (this.#hasNeighbour && random.chance(0.1)) await this.#neighbour();
      // Requests get on their way between steps, now more and now less.
      for (let turns = random.below(6) ** 2; turns > 0; turns--) await turn();
    }
  }

  async #disturb(replica: Replica): Promise<void> {
    const { network, sync, number } = replica;
    const kind = this.#random.below(10);
    this.#trace(`step ${kind} of ${number}`);
    if (kind === 0) network.cut();
    else if (kind === 1) network.losing = 1;
    else if (kind === 2) network.doubling = 1;
    else if (kind === 3) sync.pause();
    else if (kind === 4) await this.#reload(replica);
    else if (kind < 7) await this.#settle(replica);
    else {
      network.heal();
      sync.resume();
    }
  }

  async #neighbour(): Promise<void> {
    const id = this.#random.pick(this.#ids);
    const token = tokenOf('neighbour', ++this.#neighbours, false);
    const isMade = await this.#server.neighbour?.(this.#collection, id, token);
    this.#trace(`neighbour ${id} ${token}: ${isMade}`);
    if (isMade) this.#log.addedByServer(id, token);
  }

  async #reload(replica: Replica): Promise<void> {
    await replica.close();
    replica.open();
  }

  async #settle({ network, sync }: Replica): Promise<void> {
    if (network.isCut || sync.status.state === 'paused') return;
    await sync.settled({ timeout: ROUND_MS });
  }

  /** Makes a change, and waits until it is on the server. */
  async push(id: string): Promise<void> {
    const [first] = this.#replicas as [Replica];
    first.network.heal();
    first.sync.resume();
    await first.insert([id]);
    await first.sync.settled({ timeout: ROUND_MS });
  }

  /** All values on the server. */
  async tokens(): Promise<Set<string>> {
    return new Set(tokensIn([...(await this.#server.documents(this.#collection)).values()]));
  }

  /** The server has older data from now on. @returns the values that are lost. */
  async restored(before: ReadonlySet<string>): Promise<number> {
    const after = await this.tokens();
    for (const token of before) if (!after.has(token)) this.#lost.add(token);
    this.#log.restores.push(this.#log.mark());
    return this.#lost.size;
  }

  /** Mends all, and compares. */
  async end(): Promise<string[]> {
    this.#trace('heal');
    for (const replica of this.#replicas) {
      await replica.quiet();
      replica.network.heal();
      replica.sync.resume();
    }
    const problems = await this.#comeToRest();
    return [...problems, ...(await this.#server.appliedTwice(this.#collection))];
  }

  async #comeToRest(): Promise<string[]> {
    let found: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(this.#replicas.map(({ sync }) => sync.settled({ timeout: ROUND_MS })));
      const documents = await this.#server.documents(this.#collection);
      const server = {
        ...{ accepted: new Set<string>(), lost: this.#lost, late: this.#context.late },
        tellsKeys: true,
        documents: () => documents,
      };
      const contents: Contents[] = [];
      for (const replica of this.#replicas) contents.push(await replica.contents());
      found = contents.flatMap((one) =>
        differences(server, one).map((line) => `in client ${one.browser} ${line}`),
      );
      if (found.length > 0) continue;
      const waiting = this.#replicas.filter(({ sync }) => sync.status.pending > 0);
      return [
        ...waiting.map(({ number }) => `client ${number} has something to push`),
        ...new ReplicationChecker(this.#log, server, contents).problems(),
      ];
    }
    return [...found, `no rest after ${ROUNDS} rounds`];
  }

  async close(): Promise<void> {
    this.#server.onUp.delete(this.#resume);
    for (const replica of this.#replicas) {
      replica.network.cut();
      await replica.close();
    }
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
