import { parseArgs } from 'node:util';
import { wholeNumber } from '../shared/whole-number.mjs';

/**
 * @param {string[]} args what stands behind the name of the family
 * @param {import('./run-limits.mjs').Family} family
 */
export function readLimitOptions(args, { name: family, workloads }) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      sizes: { type: 'string' },
      without: { type: 'string', multiple: true, default: [] },
      dist: { type: 'string' },
      compare: { type: 'string' },
      profile: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
    },
  });
  for (const name of positionals) {
    if (!workloads.some((workload) => workload.name === name)) {
      const names = workloads.map((workload) => workload.name).join(', ');
      throw new Error(`There is no workload ${name} of the ${family}, but ${names}; see --help.`);
    }
  }
  const rounds = values.smoke ? 1 : wholeNumber(values.rounds, '--rounds');
  return {
    chosen: workloads.filter(({ name }) => positionals.length === 0 || positionals.includes(name)),
    // Of two builds each is the first in half of the rounds: the first one after a pause takes
    // longer.
    rounds: values.compare === undefined ? rounds : rounds + (rounds % 2),
    sizes: values.sizes?.split(',').map((size) => wholeNumber(size, '--sizes')),
    without: values.without,
    dist: values.dist,
    compare: values.compare,
    profile: values.profile,
    smoke: values.smoke,
  };
}
