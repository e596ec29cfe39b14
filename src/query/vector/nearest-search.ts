import { type Coroutine, run } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import { Cells } from './cells.ts';
import type { Metric } from './vector-of.ts';
import { type Accept, type Entry, type ScoredEntry, VectorTable } from './vector-table.ts';

/** Numbers in a table above which a scan of all takes too long: 100,000 vectors of 400. */
const SCANNED = 40_000_000;

/** Neighbours of vectors by which recall is measured, and the share of them to be found. */
const PROBED = { vectors: 32, neighbours: 10, share: 0.97 };

/** A share of vectors that are in no cell yet, above which they are put into one. */
const UNASSIGNED = 0.02;

const everything = () => true;

export interface Nearest<E> {
  readonly nearest: readonly ScoredEntry<E>[];
  /** Vectors that were compared. */
  readonly examined: number;
  /** Of an approximate one: the cells, those that were looked into, and the recall to expect. */
  readonly cells?: { readonly count: number; readonly probed: number; readonly recall: number };
}

export interface NearestRules<E> {
  readonly pace: Pace;
  /** Makes the pace of what runs behind searches; left out where nothing can. */
  readonly background: (() => Pace) | undefined;
  /** Which entries count. @default all */
  readonly accept?: Accept<E>;
  /** Whether all have to be looked at. @default while that is fast */
  readonly exact?: boolean | undefined;
}

/** Cells, with how many of them a search looks into. */
interface Trained {
  readonly cells: Cells;
  /** Of the table when it was trained. */
  readonly generation: number;
  readonly size: number;
  readonly probes: number;
  readonly recall: number;
}

/** The vectors of an index, and how the nearest are found: by a scan, or in cells (IVF). */
export class NearestSearch<E extends Entry> {
  readonly table: VectorTable<E>;
  readonly #dimensions: number;
  #trained: Trained | undefined;
  /** Resolves when no cells are trained. */
  #training: Promise<void> | undefined;

  constructor(metric: Metric, dimensions: number) {
    this.table = new VectorTable(metric);
    this.#dimensions = dimensions;
  }

  /** Ends once cells that are being trained are ready. */
  get trained(): Promise<void> {
    return this.#training ?? Promise.resolve();
  }

  *nearest(
    query: Float32Array,
    most: number,
    { pace, background, accept = everything, exact }: NearestRules<E>,
  ): Coroutine<Nearest<E>> {
    const { table } = this;
    yield* table.prepare(pace);
    const trained = (exact ?? !this.isLarge) ? undefined : this.#cells(background);
    if (trained) {
      const { cells, recall } = trained;
      const probed = Math.min(cells.count, probesFor(trained.probes, most));
      const found = table.among(cells, query, most, accept, probed);
      // Criteria may leave too few in these cells.
      if (found.nearest.length === most)
        return { ...found, cells: { count: cells.count, probed, recall } };
    }
    const examined = table.size;
    return { nearest: yield* table.scan(query, most, accept, pace), examined };
  }

  get isLarge(): boolean {
    return this.table.size * this.#dimensions > SCANNED;
  }

  /** The cells if they are ready; else they are trained behind the search. */
  #cells(newPace: (() => Pace) | undefined): Trained | undefined {
    const { table } = this;
    const trained = this.#trained?.generation === table.generation ? this.#trained : undefined;
    const slots = table.entries.length;
    const isStale = !trained || slots > 2 * trained.size;
    const isBehind = trained && slots - trained.cells.assigned > UNASSIGNED * slots;
    if (newPace && (isStale || isBehind))
      this.#training ??= Promise.resolve(
        run(isStale ? this.#train(newPace()) : trained.cells.assign(table.vectors, newPace())),
      ).finally(() => {
        this.#training = undefined;
      });
    return trained;
  }

  *#train(pace: Pace): Coroutine<void> {
    const { table } = this;
    const { generation, size } = table;
    const cells = yield* Cells.train(table.metric, table.vectors, pace);
    if (generation !== table.generation) return;
    yield* cells.assign(table.vectors, pace);
    const { probes, recall } = yield* this.#measure(cells, pace);
    if (generation === table.generation)
      this.#trained = { cells, generation, size, probes, recall };
  }

  /** How many cells have to be looked into, by the neighbours of some vectors. */
  *#measure(
    cells: Cells,
    pace: Pace,
  ): Coroutine<{ readonly probes: number; readonly recall: number }> {
    const { vectors, entries } = this.table;
    const cellOf = cells.cells();
    const slotOf = new Map(entries.flatMap((entry, slot) => (entry ? [[entry.rank, slot]] : [])));
    const positions: number[] = [];
    const step = Math.max(1, Math.floor(cells.assigned / PROBED.vectors));
    for (let slot = 0; slot < cells.assigned; slot += step) {
      const vector = vectors[slot];
      const self = entries[slot];
      if (!vector || !self) continue;
      const order = cells.order(vector);
      const accept = (entry: E) => entry !== self;
      const nearest = yield* this.table.scan(vector, PROBED.neighbours, accept, pace);
      for (const { item } of nearest) {
        const cell = cellOf[slotOf.get(item.rank) ?? -1];
        if (cell !== undefined) positions.push(order.indexOf(cell));
      }
    }
    positions.sort((a, b) => a - b);
    const needed = positions[Math.ceil(positions.length * PROBED.share) - 1] ?? cells.count - 1;
    const found = positions.filter((position) => position <= needed).length;
    return { probes: needed + 1, recall: positions.length ? found / positions.length : 1 };
  }
}

/** More neighbours lie in more cells. */
function probesFor(probes: number, most: number): number {
  return Math.ceil(probes * Math.max(1, Math.sqrt(most / PROBED.neighbours)));
}
