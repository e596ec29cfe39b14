import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import { dot, normalized, squaredDistance } from './metric.ts';
import type { Metric } from './vector-of.ts';

/** Vectors that train a cell, and rounds of the training: more changes recall by less than 1 %. */
const SAMPLES = 32;
const ROUNDS = 6;

/** Groups of cells in which the cell of a vector is looked for. */
const GROUPS = 3;

/** Vectors assigned between two looks at the clock. */
const AT_ONCE = 16;

type Vectors = readonly (Float32Array | undefined)[];

/**
 * A coarse quantizer (IVF): each vector is in the cell of the centroid that is nearest to it, and a
 * search looks into few cells. Centroids are clustered themselves, so that a vector finds its cell
 * among the square root of all.
 */
export class Cells {
  readonly #metric: Metric;
  readonly #centroids: readonly Float32Array[];
  readonly #groups: readonly { readonly centroid: Float32Array; readonly cells: number[] }[];
  /** By cell, the slots of its vectors. */
  readonly #slots: number[][];
  /** Slots below this one are in a cell; those of later vectors are candidates of each search. */
  #assigned = 0;

  private constructor(
    metric: Metric,
    centroids: readonly Float32Array[],
    groups: readonly { readonly centroid: Float32Array; readonly cells: number[] }[],
  ) {
    this.#metric = metric;
    this.#centroids = centroids;
    this.#groups = groups;
    this.#slots = centroids.map(() => []);
  }

  /** Learns cells from a sample of the vectors: k-means of groups, then within each group. */
  static *train(metric: Metric, vectors: Vectors, pace: Pace): Coroutine<Cells> {
    const all = vectors.filter((vector) => vector !== undefined);
    const count = Math.ceil(Math.sqrt(all.length));
    const step = Math.max(1, all.length / (count * SAMPLES));
    const sample: Float32Array[] = [];
    for (let at = 0; at < all.length; at += step) {
      const vector = all[Math.floor(at)] as Float32Array;
      sample.push(metric === 'cosine' ? normalized(vector) : vector);
    }
    const centroids: Float32Array[] = [];
    const groups: { centroid: Float32Array; cells: number[] }[] = [];
    const { means, members } = yield* cluster(sample, Math.ceil(Math.sqrt(count)), pace);
    for (const [at, centroid] of means.entries()) {
      const own = members[at] as Float32Array[];
      if (own.length === 0) continue;
      const share = Math.max(1, Math.round((count * own.length) / sample.length));
      const inner = yield* cluster(own, share, pace);
      const cells = inner.means.map((mean) => centroids.push(mean) - 1);
      groups.push({ centroid, cells });
    }
    return new Cells(metric, centroids, groups);
  }

  get count(): number {
    return this.#centroids.length;
  }

  get assigned(): number {
    return this.#assigned;
  }

  /** Puts the vectors of later slots into their cells. */
  *assign(vectors: Vectors, pace: Pace): Coroutine<void> {
    while (this.#assigned < vectors.length) {
      // A search in a pause has each slot once: in its cell, or among the later ones.
      const slot = this.#assigned++;
      const vector = vectors[slot];
      if (vector) this.#slots[this.cellOf(vector)]?.push(slot);
      if (slot % AT_ONCE === 0 && pace.late) yield* pace.pause();
    }
  }

  /** The cell of each assigned slot. */
  cells(): Uint32Array {
    const cells = new Uint32Array(this.#assigned);
    for (const [cell, slots] of this.#slots.entries()) for (const slot of slots) cells[slot] = cell;
    return cells;
  }

  /** The slots in the cells nearest to a vector, cell by cell. */
  near(query: Float32Array, probes: number): readonly (readonly number[])[] {
    return this.order(query)
      .slice(0, probes)
      .map((cell) => this.#slots[cell] as number[]);
  }

  /** All cells, the nearest first. */
  order(query: Float32Array): number[] {
    const own = this.#metric === 'cosine' ? normalized(query) : query;
    const far = this.#centroids.map((centroid) =>
      this.#metric === 'dot' ? -dot(centroid, own) : squaredDistance(centroid, own),
    );
    return far.map((_, cell) => cell).sort((a, b) => (far[a] as number) - (far[b] as number));
  }

  cellOf(vector: Float32Array): number {
    const own = this.#metric === 'cosine' ? normalized(vector) : vector;
    const groups = this.#groups
      .map(({ centroid, cells }) => ({ cells, far: squaredDistance(centroid, own) }))
      .sort((a, b) => a.far - b.far);
    const cells = groups.slice(0, GROUPS).flatMap((group) => group.cells);
    const centroids = cells.map((cell) => this.#centroids[cell] as Float32Array);
    return cells[nearest(centroids, own)] as number;
  }
}

/** k-means (Lloyd), from vectors that are spread evenly over the list. */
function* cluster(
  vectors: readonly Float32Array[],
  count: number,
  pace: Pace,
): Coroutine<{ means: Float32Array[]; members: Float32Array[][] }> {
  const most = Math.min(count, vectors.length);
  let means: Float32Array[] = Array.from({ length: most }, (_, at) =>
    (vectors[Math.floor((at * vectors.length) / most)] as Float32Array).slice(),
  );
  let members: Float32Array[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    members = means.map(() => []);
    for (const [at, vector] of vectors.entries()) {
      members[nearest(means, vector)]?.push(vector);
      if (at % AT_ONCE === 0 && pace.late) yield* pace.pause();
    }
    means = means.map((mean, at) => meanOf(members[at] as Float32Array[], mean));
  }
  return { means, members };
}

function nearest(centroids: readonly Float32Array[], vector: Float32Array): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < centroids.length; at++) {
    const far = squaredDistance(centroids[at] as Float32Array, vector);
    if (far < least) [best, least] = [at, far];
  }
  return best;
}

/** @param last Stays where there are none. */
function meanOf(vectors: readonly Float32Array[], last: Float32Array): Float32Array {
  if (vectors.length === 0) return last;
  const sums = new Float64Array(last.length);
  for (const vector of vectors)
    for (let at = 0; at < sums.length; at++)
      sums[at] = (sums[at] as number) + (vector[at] as number);
  return Float32Array.from(sums, (sum) => sum / vectors.length);
}
