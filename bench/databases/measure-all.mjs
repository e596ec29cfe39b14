import { Measurement } from './measure-databases.mjs';

/**
 * Runs all rounds that fit.
 *
 * @param {import('../shared/server.mjs').Server} server
 * @param {readonly import('./contender.mjs').Contender[]} contenders
 * @param {Pick<import('./options.mjs').Options, 'workloads' | 'sizes' | 'rounds' | 'minutes' |
 *   'seed' | 'smoke' | 'once'>} options
 * @param {(measurement: Measurement, round: number) => void} [afterRound]
 * @param {import('./results.mjs').Results} [earlier] the rounds before
 * @returns {Promise<Measurement>}
 */
export async function measureAll(
  server,
  contenders,
  { workloads, sizes, rounds, minutes, seed, smoke, once },
  afterRound = () => {},
  earlier,
) {
  const measurement = new Measurement(server, contenders, { workloads, seed, once });
  if (earlier) measurement.goOn(earlier);
  else if (smoke || workloads.includes('bundle')) {
    console.log('Smoke run with few documents:');
    await measurement.check();
    if (smoke) return measurement;
  }
  console.log('Measuring:');
  const end = performance.now() + minutes * 60_000;
  for (let round = (earlier?.rounds ?? 0) + 1; round <= rounds; round++) {
    const start = performance.now();
    for (const size of sizes) await measurement.round(size, round);
    const now = performance.now();
    afterRound(measurement, round);
    if (now + (now - start) > end) break;
  }
  return measurement;
}
