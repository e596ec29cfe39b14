import { parseArgs } from 'node:util';
import { workloads } from './workloads.mjs';

const USAGE = `npm run bench -- [workload …] [options]

  --rounds 5          how often everything is measured, in turns
  --sizes 10000       other numbers of documents than the workload's own
  --without dexie     leaves a contender out; may be given several times
  --dist dist         the build to measure; left out, dist is brought up to date first
  --profile           writes CPU profiles of page and workers beside the results (slows things down)
  --smoke             tiny sizes and one round: shows that everything runs, and nothing about speed

workloads: ${workloads.map(({ name }) => name).join(' ')}`;

/** @param {string[]} args */
export function readOptions(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      sizes: { type: 'string' },
      without: { type: 'string', multiple: true, default: [] },
      dist: { type: 'string' },
      profile: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  for (const name of positionals) {
    if (!workloads.some((workload) => workload.name === name)) {
      throw new Error(`There is no workload ${name}.\n\n${USAGE}`);
    }
  }
  return {
    chosen: workloads.filter(({ name }) => positionals.length === 0 || positionals.includes(name)),
    rounds: values.smoke ? 1 : wholeNumber(values.rounds, '--rounds'),
    sizes: values.sizes?.split(',').map((size) => wholeNumber(size, '--sizes')),
    without: values.without,
    dist: values.dist,
    profile: values.profile,
    smoke: values.smoke,
  };
}

export const usage = USAGE;

/** @param {string} text @param {string} option */
function wholeNumber(text, option) {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${option} takes whole numbers above 0, not ${text}.\n\n${USAGE}`);
}

/** @typedef {NonNullable<ReturnType<typeof readOptions>>} Options */
