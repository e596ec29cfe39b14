import { isBefore, type Transaction } from './history.ts';

/**
 * Why a transaction has to come before another: it wrote what the other replaced (`ww`) or read
 * (`wr`), it read what the other replaced (`rw`), or it was completed before the other began
 * (`time`).
 */
export interface Dependency {
  readonly from: Transaction;
  readonly to: Transaction;
  readonly kind: 'ww' | 'wr' | 'rw' | 'time';
  readonly text: string;
  /** Whether a query did not find what the other wrote. */
  readonly isPhantom?: boolean;
}

export class DependencyGraph {
  readonly #nodes: readonly Transaction[];
  readonly #outgoing = new Map<Transaction, Dependency[]>();
  #reachable: Map<Transaction, Set<Transaction>> | undefined;

  constructor(nodes: readonly Transaction[]) {
    this.#nodes = nodes;
    for (const from of nodes) {
      const later = nodes.filter((to) => isBefore(from, to));
      const ends = (to: Transaction) =>
        `${from.id} ended at ${from.completed}, before ${to.id} began at ${to.invoked}`;
      this.#outgoing.set(
        from,
        later.map((to) => ({ from, to, kind: 'time', text: ends(to) })),
      );
    }
  }

  add(dependency: Dependency): void {
    if (dependency.from === dependency.to) return;
    this.#outgoing.get(dependency.from)?.push(dependency);
    this.#reachable = undefined;
  }

  /** Whether one has to come before the other. */
  reaches(from: Transaction, to: Transaction): boolean {
    this.#reachable ??= new Map();
    let reached = this.#reachable.get(from);
    if (!reached) {
      reached = new Set();
      for (const waiting = [from]; waiting.length > 0; ) {
        for (const { to: next } of this.#outgoing.get(waiting.pop() as Transaction) ?? [])
          if (!reached.has(next)) {
            reached.add(next);
            waiting.push(next);
          }
      }
      this.#reachable.set(from, reached);
    }
    return reached.has(to);
  }

  /** A shortest cycle, if possible one that needs no times; `undefined` if there is none. */
  shortestCycle(): readonly Dependency[] | undefined {
    const core = this.#cyclic();
    for (const allowsTime of [false, true]) {
      const cycles = [...core].flatMap((start) => this.#cycleFrom(start, core, allowsTime) ?? []);
      const [shortest] = cycles.sort((a, b) => a.length - b.length);
      if (shortest) return shortest;
    }
    return undefined;
  }

  /** Those that are left when each is removed that no other has to precede. */
  #cyclic(): Set<Transaction> {
    const incoming = new Map(this.#nodes.map((node) => [node, 0]));
    const count = (node: Transaction, step: number): number => {
      const now = (incoming.get(node) ?? 0) + step;
      incoming.set(node, now);
      return now;
    };
    for (const edges of this.#outgoing.values()) for (const { to } of edges) count(to, 1);
    const core = new Set(this.#nodes);
    for (const free = this.#nodes.filter((node) => incoming.get(node) === 0); free.length > 0; ) {
      const node = free.pop() as Transaction;
      core.delete(node);
      for (const { to } of this.#outgoing.get(node) ?? []) if (count(to, -1) === 0) free.push(to);
    }
    return core;
  }

  #cycleFrom(
    start: Transaction,
    core: ReadonlySet<Transaction>,
    allowsTime: boolean,
  ): [Dependency[]] | undefined {
    const reachedBy = new Map<Transaction, Dependency>();
    const waiting = [start];
    for (let node = waiting.shift(); node; node = waiting.shift()) {
      for (const edge of this.#outgoing.get(node) ?? []) {
        if (!core.has(edge.to) || reachedBy.has(edge.to)) continue;
        if (edge.kind === 'time' && !allowsTime) continue;
        reachedBy.set(edge.to, edge);
        if (edge.to !== start) waiting.push(edge.to);
        else return [pathBack(start, reachedBy)];
      }
    }
    return undefined;
  }
}

function pathBack(start: Transaction, reachedBy: ReadonlyMap<Transaction, Dependency>) {
  const path: Dependency[] = [];
  let node = start;
  do {
    const edge = reachedBy.get(node) as Dependency;
    path.unshift(edge);
    node = edge.from;
  } while (node !== start);
  return path;
}
