import { parseArgs } from 'node:util';
import { peers } from '../page/peers.mjs';
import { wholeNumber } from '../shared/whole-number.mjs';
import { workloads } from './catalogue.mjs';

/**
 * @typedef {object} Options
 * @property {readonly import('../page/peer.mjs').Peer[]} peers
 * @property {string[]} workloads names
 * @property {boolean} whole whether nothing was left out
 * @property {number[]} sizes
 * @property {number} rounds
 * @property {number} minutes
 * @property {number} seed
 * @property {string | undefined} dist
 * @property {boolean} smoke
 * @property {string | undefined} compare
 * @property {string | undefined} earlier the results of a run that goes on
 * @property {number} once seconds of the first round beyond which a contender is not measured again
 */

const WHOLE_SIZES = '1000,10000';
const SOME_SIZES = '10000';
const SMOKE_SIZES = '200';
/** For partial runs, to keep them short. */
const SOME_MINUTES = '1.5';

/** @param {string[]} args @returns {Options} */
export function readOptions(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string', multiple: true },
      sizes: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      minutes: { type: 'string' },
      seed: { type: 'string', default: '1' },
      dist: { type: 'string' },
      compare: { type: 'string' },
      continue: { type: 'string' },
      once: { type: 'string', default: 'Infinity' },
      smoke: { type: 'boolean', default: false },
    },
  });
  const { smoke, dist, compare } = values;
  const only = values.only?.flatMap((names) => names.split(','));
  const whole = !only && positionals.length === 0 && !smoke && compare === undefined;
  const sizes = values.sizes ?? (smoke ? SMOKE_SIZES : whole ? WHOLE_SIZES : SOME_SIZES);
  const chosen = chooseByName('database', peers, only);
  return {
    peers: compare === undefined ? chosen : chosen.filter(({ name }) => name.startsWith('cairn')),
    workloads: chooseByName('workload', workloads, positionals).map(({ name }) => name),
    whole,
    sizes: sizes.split(',').map((size) => wholeNumber(size, '--sizes')),
    rounds: smoke ? 1 : wholeNumber(values.rounds, '--rounds'),
    minutes: Number(values.minutes ?? (whole || smoke ? 'Infinity' : SOME_MINUTES)),
    seed: wholeNumber(values.seed, '--seed'),
    dist,
    smoke,
    compare,
    earlier: values.continue,
    once: Number(values.once),
  };
}

/**
 * @template {{ name: string }} T
 * @param {string} what
 * @param {readonly T[]} all
 * @param {readonly string[] | undefined} names none for all
 */
function chooseByName(what, all, names) {
  if (!names || names.length === 0) return all;
  for (const name of names) {
    if (!all.some((each) => each.name === name)) {
      throw new Error(
        `There is no ${what} ${name}, but ${all.map((each) => each.name).join(', ')}.`,
      );
    }
  }
  return all.filter(({ name }) => names.includes(name));
}
