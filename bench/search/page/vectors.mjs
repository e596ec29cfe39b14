import { randomNumbers } from '../../page/documents.mjs';

export const DIMENSIONS = 384;

/** Embeddings have far fewer degrees of freedom than numbers, and are about some topics. */
const LATENT = 48;
const TOPICS = 2000;

/** @param {() => number} random */
function normalNumbers(random) {
  return () => {
    const angle = 2 * Math.PI * random();
    return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(angle);
  };
}

/**
 * Makes vectors that look like embeddings: around topics, in a space of 48 dimensions, and noise.
 *
 * @param {number} seed of the vectors, whose topics are the same for all seeds
 */
export function vectorMaker(seed) {
  const shared = normalNumbers(randomNumbers(1));
  const normals = (/** @type {number} */ length) => Float64Array.from({ length }, shared);
  const axes = Array.from({ length: LATENT }, () => normals(DIMENSIONS));
  const topics = Array.from({ length: TOPICS }, () => normals(LATENT));
  const random = randomNumbers(seed);
  const normal = normalNumbers(random);
  return () => {
    const topic = /** @type {Float64Array} */ (topics[Math.floor(random() * TOPICS)]);
    const vector = new Float32Array(DIMENSIONS).map(() => 0.5 * normal());
    for (const [at, axis] of axes.entries()) {
      const weight = /** @type {number} */ (topic[at]) + 0.7 * normal();
      for (let i = 0; i < DIMENSIONS; i++)
        vector[i] = /** @type {number} */ (vector[i]) + weight * /** @type {number} */ (axis[i]);
    }
    return vector;
  };
}
