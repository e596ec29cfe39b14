/** How near two vectors are. */
export type Metric = 'cosine' | 'dot' | 'euclidean';

export interface VectorSettings {
  readonly path: string;
  readonly dimensions: number;
  readonly metric: Metric;
}

/**
 * A copy of a vector, given as a list of numbers; or what is wrong with it, as half a sentence.
 *
 * @param value Of any type.
 */
export function vectorOf(
  value: unknown,
  { dimensions, metric }: Pick<VectorSettings, 'dimensions' | 'metric'>,
): Float32Array | string {
  if (!Array.isArray(value) && !isFloats(value))
    return `is ${kindOf(value)}, not a list of numbers`;
  if (value.length !== dimensions) return `has ${value.length} numbers`;
  const vector = new Float32Array(dimensions);
  let isZero = true;
  for (let at = 0; at < dimensions; at++) {
    const given: unknown = value[at];
    if (typeof given !== 'number') return `has ${kindOf(given)} at ${at}`;
    vector[at] = given;
    const kept = vector[at] as number;
    if (!Number.isFinite(kept)) return `has ${given} at ${at}, which is no number of 32 bits`;
    isZero &&= kept === 0;
  }
  return isZero && metric === 'cosine' ? 'has zeros alone, which have no direction' : vector;
}

function isFloats(value: unknown): value is Float32Array | Float64Array {
  const name = Object.prototype.toString.call(value);
  return name === '[object Float32Array]' || name === '[object Float64Array]';
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? Object.prototype.toString.call(value) : `a ${typeof value}`;
}
