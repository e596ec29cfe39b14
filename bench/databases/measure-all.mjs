import { Measurement } from './measure-databases.mjs';

/**
 * Runs all rounds that fit.
 *
 * @param {import('../shared/server.mjs').Server} server
 * @param {readonly import('./contender.mjs').Contender[]} contenders
 * @param {Pick<import('./options.mjs').Options, 'workloads' | 'sizes' | 'rounds' | 'minutes' | 'seed' | 'smoke'>} options
 * @param {(measurement: Measurement) => void} [afterRound]
 * @returns {Promise<Measurement>}
 */
export async function measureAll(
  server,
  contenders,
  { workloads, sizes, rounds, minutes, seed, smoke },
  afterRound = () => {},
) {
  const measurement = new Measurement(server, contenders, workloads, seed);
  if (smoke || workloads.includes('bundle')) {
    console.log('Smoke run with few documents:');
    await measurement.check();
    if (smoke) return measurement;
  }
  console.log('Measuring:');
  const end = performance.now() + minutes * 60_000;
  for (let round = 1; round <= rounds; round++) {
    const start = performance.now();
    for (const size of sizes) await measurement.round(size, round);
    const now = performance.now();
    afterRound(measurement);
    if (now + (now - start) > end) break;
  }
  return measurement;
}
