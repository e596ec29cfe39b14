import { parseArgs } from 'node:util';
import { wholeNumber } from '../shared/whole-number.mjs';

/**
 * @typedef {object} Options
 * @property {string[]} parts names; none: all
 * @property {number} rounds
 * @property {boolean} smoke whether sizes are small and the figures mean nothing
 * @property {string | undefined} dist
 * @property {number | undefined} documents of the first pull
 * @property {number | undefined} changes of the push
 * @property {number | undefined} photos
 * @property {number} clients
 * @property {number} seconds for which they write
 * @property {number} writes a second, of all clients together
 */

/** @param {string[]} args what stands behind `replication` @returns {Options} */
export function readReplicationOptions(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      documents: { type: 'string' },
      changes: { type: 'string' },
      photos: { type: 'string' },
      clients: { type: 'string' },
      seconds: { type: 'string' },
      writes: { type: 'string', default: '5' },
      dist: { type: 'string' },
      smoke: { type: 'boolean', default: false },
    },
  });
  const { smoke } = values;
  const optional = (/** @type {'documents' | 'changes' | 'photos'} */ name) =>
    values[name] === undefined ? undefined : wholeNumber(values[name], `--${name}`);
  return {
    parts: positionals,
    rounds: smoke ? 1 : wholeNumber(values.rounds, '--rounds'),
    smoke,
    dist: values.dist,
    documents: optional('documents'),
    changes: optional('changes'),
    photos: optional('photos'),
    clients: wholeNumber(values.clients ?? (smoke ? '10' : '200'), '--clients'),
    seconds: wholeNumber(values.seconds ?? (smoke ? '1' : '120'), '--seconds'),
    writes: wholeNumber(smoke ? '40' : values.writes, '--writes'),
  };
}
