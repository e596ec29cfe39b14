import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { checkLimits } from '../limits/limits.mjs';
import { printWorkload } from '../limits/print.mjs';
import { buildIfStale } from '../shared/build.mjs';
import { describeMachine, machineLine } from '../shared/machine.mjs';
import { writeResults } from '../shared/results.mjs';
import { readReplicationOptions } from './options.mjs';
import { parts } from './parts.mjs';
import { startServers } from './servers.mjs';

const PROCESSES = 3;

/** Measures replication with PostgreSQL. @param {string[]} args */
export async function runReplication(args) {
  const options = readReplicationOptions(args);
  const { smoke, rounds } = options;
  const chosen = chosenFrom(options.parts);
  const dist = options.dist === undefined ? buildIfStale() : resolve(options.dist);
  const machine = await describeMachine();
  console.log(machineLine(machine));
  const results = {
    at: new Date().toISOString(),
    smoke,
    machine,
    parts: /** @type {object[]} */ ([]),
  };
  const servers = await startServers(dist, PROCESSES);
  try {
    for (const part of chosen) {
      /** @type {string[]} */
      const notes = [];
      const note = (/** @type {string} */ text) => void notes.push(text);
      const {
        measured,
        load = 0,
        ran = rounds,
      } = await part.run({ servers, smoke, rounds, options, note });
      const { name, title, limits } = part;
      const result = {
        name,
        title,
        rounds: ran,
        load,
        measured,
        checked: checkLimits(limits, measured),
      };
      check(result.measured, result.checked, limits.length);
      printWorkload(result, smoke);
      for (const text of notes) console.log(`\n  ${text.replaceAll('\n', '\n  ')}`);
      results.parts.push({ ...result, notes });
    }
  } finally {
    await servers.stop();
  }
  console.log(`\nwritten to ${writeResults(results, 'replication')}`);
}

/** @param {string[]} names */
function chosenFrom(names) {
  for (const name of names) {
    if (parts.some((part) => part.name === name)) continue;
    const known = parts.map((part) => part.name).join(', ');
    throw new Error(`There is no part ${name} of replication, but ${known}; see --help.`);
  }
  return parts.filter(({ name }) => names.length === 0 || names.includes(name));
}

/**
 * @param {import('./part.mjs').Measured[]} measured @param
 *   {import('../limits/limits.mjs').Checked[]} checked @param {number} limits
 */
function check(measured, checked, limits) {
  assert.ok(measured.length > 0, 'nothing was measured');
  for (const { contender, metric, values } of measured)
    for (const value of values)
      assert.ok(Number.isFinite(value) && value >= 0, `${contender}: ${metric} is ${value}`);
  assert.ok(checked.length >= limits, 'a limit has not found its figures');
}
