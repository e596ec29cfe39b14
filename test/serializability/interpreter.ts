import { Random } from '../setup/random.ts';
import type { History, Operation, State, Transaction } from './history.ts';

/** How transactions are run: right in the first two ways, wrong in the others. */
export type Isolation =
  /** All at once, at some time between begin and end. */
  | 'serial'
  /** On a snapshot; committed if nothing that it read has changed. */
  | 'optimistic'
  /** On a snapshot; committed in any case. */
  | 'snapshot'
  /** On a snapshot; committed if nothing that it wrote has changed. */
  | 'snapshot-first-committer'
  /** On a snapshot; points that it read are validated, queries are not. */
  | 'points-validated'
  | 'read-committed'
  /** Writes are seen at once, and taken back by an abort. */
  | 'read-uncommitted'
  /** As `optimistic`, but now and then half of a commit is lost. */
  | 'half-commits'
  /** As `optimistic`, but now and then a commit is applied again later. */
  | 'applied-twice'
  /** As `optimistic`, but now and then on a snapshot from before it began. */
  | 'stale';

const LETTERS = ['a', 'b', 'c', 'd'];
const CLIENTS = 3;
const ABORTS = 0.1;
const UNKNOWN = 0.15;
const BREAKS = 0.3;

interface Running {
  readonly id: string;
  readonly invoked: number;
  readonly snapshot: Record<string, unknown>;
  readonly own: Map<string, unknown>;
  readonly operations: Operation[];
  stepsLeft: number;
}

export interface Workload {
  readonly seed: number;
  readonly transactions: number;
  /** Whether each key is read before it is written, and no key is deleted and written again. */
  readonly isTraceable: boolean;
}

/** Runs random transactions of a few clients, interleaved, in one of these ways. */
export function interpret(isolation: Isolation, workload: Workload): History {
  return new Interpreter(isolation, workload).run();
}

class Interpreter {
  readonly #isolation: Isolation;
  readonly #workload: Workload;
  readonly #random: Random;
  readonly #initial: State = { a: 1, b: 2 };
  #state: Record<string, unknown> = { ...this.#initial };
  /** States of the past, newest first. */
  #past: Record<string, unknown>[] = [];
  readonly #again: Map<string, unknown>[] = [];
  readonly #done: Transaction[] = [];
  /** How many keys of each letter were deleted. */
  readonly #generations = new Map<string, number>();
  #time = 0;
  #begun = 0;
  #tokens = 10;

  constructor(isolation: Isolation, workload: Workload) {
    this.#isolation = isolation;
    this.#workload = workload;
    this.#random = new Random(workload.seed);
  }

  run(): History {
    const clients: (Running | undefined)[] = Array.from({ length: CLIENTS });
    const { transactions } = this.#workload;
    while (this.#begun < transactions || clients.some((one) => one)) {
      const index = this.#random.below(CLIENTS);
      const running = clients[index];
      if (this.#random.chance(0.1)) this.#apply(this.#again.pop() ?? new Map());
      if (!running) {
        if (this.#begun < transactions) clients[index] = this.#begin();
      } else if (running.stepsLeft-- > 0) {
        if (this.#isolation !== 'serial') this.#step(running);
      } else {
        this.#end(running);
        clients[index] = undefined;
      }
    }
    for (const writes of this.#again) this.#apply(writes);
    const state = { ...this.#state };
    const finals = ['at rest', 'after a restart'].map((when) => ({ when, state }));
    return { initial: this.#initial, transactions: this.#done, finals };
  }

  #begin(): Running {
    const isStale = this.#isolation === 'stale' && this.#random.chance(BREAKS);
    const snapshot = (isStale && this.#past[this.#random.below(4)]) || this.#state;
    return {
      id: `t${++this.#begun}`,
      invoked: ++this.#time,
      snapshot: { ...snapshot },
      own: new Map(),
      operations: [],
      stepsLeft: 1 + this.#random.below(4),
    };
  }

  #step(running: Running): void {
    const { own, operations } = running;
    const key = this.#key();
    const kind = this.#random.below(10);
    const seen = this.#seenBy(running);
    const read = () => operations.push({ kind: 'read', key, value: seen[key] });
    if (kind < 4) read();
    else if (kind < 6) {
      const rest = this.#random.below(3);
      const predicate = (_: string, value: unknown) => Number(value) % 3 === rest;
      const found = Object.entries(seen).filter((pair) => predicate(...pair));
      const keysAndValues = Object.fromEntries(found);
      operations.push({ kind: 'query', keysAndValues, predicate, text: `n % 3 = ${rest}` });
    } else {
      const { isTraceable } = this.#workload;
      if (isTraceable || this.#random.chance(0.7)) read();
      const value = kind === 9 ? undefined : this.#tokens++;
      operations.push({ kind: 'write', key, value });
      own.set(key, value);
      if (value === undefined && isTraceable) this.#forget(key);
      if (this.#isolation === 'read-uncommitted') this.#apply(new Map([[key, value]]));
    }
  }

  #key(): string {
    const letter = this.#random.pick(LETTERS);
    return `${letter}${this.#generations.get(letter) ?? ''}`;
  }

  /** Nobody writes a key again that was deleted. */
  #forget(key: string): void {
    const letter = key.charAt(0);
    this.#generations.set(letter, (this.#generations.get(letter) ?? 0) + 1);
  }

  #seenBy({ snapshot, own }: Running): Record<string, unknown> {
    const isCurrent = this.#isolation.startsWith('read-') || this.#isolation === 'serial';
    return merge(isCurrent ? this.#state : snapshot, own);
  }

  #end(running: Running): void {
    const { id, invoked, operations, own, snapshot } = running;
    if (this.#isolation === 'serial')
      for (let steps = 1 + this.#random.below(4); steps > 0; steps--) this.#step(running);
    const isRefused = this.#random.chance(ABORTS) || !this.#isValid(running);
    const isUnknown = this.#random.chance(UNKNOWN);
    if (!isRefused) this.#commit(own);
    else if (this.#isolation === 'read-uncommitted')
      this.#apply(new Map([...own.keys()].map((key) => [key, snapshot[key]])));
    const status = isUnknown ? 'unknown' : isRefused ? 'aborted' : 'committed';
    this.#done.push({ id, invoked, completed: ++this.#time, status, operations });
  }

  #isValid({ operations, own, snapshot }: Running): boolean {
    const isSame = (key: string) => this.#state[key] === snapshot[key];
    const hasQueried = operations.some(({ kind }) => kind === 'query');
    const points = operations.every((one) => one.kind !== 'read' || isSame(one.key));
    switch (this.#isolation) {
      case 'snapshot-first-committer':
        return [...own.keys()].every(isSame);
      case 'points-validated':
        return points;
      case 'optimistic':
      case 'half-commits':
      case 'applied-twice':
      case 'stale':
        return (
          (this.#isolation === 'stale' && own.size === 0) ||
          // Coarser than it has to be: a query has read each key.
          (points && (!hasQueried || Object.keys({ ...this.#state, ...snapshot }).every(isSame)))
        );
      default:
        return true;
    }
  }

  #commit(own: ReadonlyMap<string, unknown>): void {
    let writes = new Map(own);
    const breaks = this.#random.chance(BREAKS);
    if (this.#isolation === 'half-commits' && breaks) writes = new Map([...own].slice(1));
    if (this.#isolation === 'applied-twice' && breaks) this.#again.push(writes);
    this.#past.unshift({ ...this.#state });
    this.#apply(writes);
  }

  #apply(writes: ReadonlyMap<string, unknown>): void {
    this.#state = merge(this.#state, writes);
  }
}

function merge(state: State, writes: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const merged = { ...state };
  for (const [key, value] of writes) {
    if (value === undefined) delete merged[key];
    else merged[key] = value;
  }
  return merged;
}
