import assert from 'node:assert/strict';

/**
 * Throws unless the run is complete: each contender at each size returned the same
 * metrics in every round, each a plausible number, and each limit found its figures.
 *
 * @param {import('./results.mjs').Results} results
 * @param {{ workload: import('./workload.mjs').Workload, sizes: number[], contenders: string[] }[]}
 *   expected
 */
export function checkResults(results, expected) {
  const { machine, workloads } = results;
  assert.match(machine.browser, /^Chromium \d+/, 'the version of the browser');
  assert.ok(machine.cores >= 1, 'the number of cores');
  assert.deepEqual(
    workloads.map(({ name }) => name),
    expected.map(({ workload }) => workload.name),
  );
  for (const [index, { workload, sizes, contenders }] of expected.entries()) {
    const result = /** @type {import('./results.mjs').WorkloadResult} */ (workloads[index]);
    checkFigures(result, sizes, contenders);
    checkLimitsFound(result, workload.limits, sizes, contenders);
  }
}

/**
 * @param {import('./results.mjs').WorkloadResult} result @param {number[]} sizes @param {string[]}
 *   contenders
 */
function checkFigures({ name, rounds, measured }, sizes, contenders) {
  for (const size of sizes) {
    for (const contender of contenders) {
      const own = measured.filter((entry) => entry.size === size && entry.contender === contender);
      assert.ok(own.length > 0, `${name}: nothing was measured of ${contender} at ${size}`);
    }
  }
  for (const { contender, metric, values } of measured) {
    const what = `${name}, ${contender}: ${metric}`;
    assert.equal(values.length, rounds, `${what} in every round`);
    for (const value of values)
      assert.ok(Number.isFinite(value) && value >= 0, `${what}: ${value}`);
  }
}

/**
 * @param {import('./results.mjs').WorkloadResult} result
 * @param {readonly import('./workload.mjs').Limit[]} limits
 * @param {number[]} sizes
 * @param {string[]} contenders
 */
function checkLimitsFound({ name, checked }, limits, sizes, contenders) {
  const taking = limits.filter(({ figure, per }) =>
    [figure, per].every((it) => it === undefined || contenders.includes(it.split(':')[0] ?? '')),
  );
  const counts = taking.map(({ compare }) =>
    compare === 'acrossSizes' ? Number(sizes.length > 1) : sizes.length,
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  assert.equal(checked.length, total, `${name}: limits whose figures were found`);
  for (const { what, value } of checked) assert.ok(Number.isFinite(value), `${name}, ${what}`);
}
