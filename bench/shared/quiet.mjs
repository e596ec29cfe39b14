import { cpus } from 'node:os';

const SAMPLE_MS = 200;
/** Total for all waits. */
const PATIENCE_MS = 30_000;
const BUSY_AT_MOST = 0.25;

/** The current load of all cores, from 0 to 1. */
async function sampleLoad() {
  const before = totals();
  await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  const after = totals();
  return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all);
}

function totals() {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.idle + times.user + times.nice + times.sys + times.irq;
  }
  return { idle, all };
}

/**
 * Waits until the machine is idle, because load distorts figures. If it never is,
 * gives up for the rest of the run.
 */
export class Quiet {
  #patience = PATIENCE_MS;
  /** @type {number[]} how busy the machine was in the end of each wait, from 0 to 1 */
  loads = [];

  async wait() {
    const start = performance.now();
    let load = await sampleLoad();
    while (load > BUSY_AT_MOST && performance.now() - start < this.#patience) {
      load = await sampleLoad();
    }
    this.#patience -= performance.now() - start - SAMPLE_MS;
    this.loads.push(load);
  }
}
