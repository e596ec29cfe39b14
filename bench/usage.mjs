import { workloads } from './databases/catalogue.mjs';
import { limitNames } from './limits/options.mjs';
import { peers } from './page/peers.mjs';

export const usage = `npm run bench                             every database, every workload; writes docs/benchmarks
npm run bench -- bulk-insert gets         single workloads
npm run bench -- --only dexie             single databases; may be given several times
npm run bench -- --compare HEAD~1         this Cairn and that of another commit, by ratio
npm run bench -- limits [workload …]      Cairn against its own limits
npm run bench -- tabs                     calls from another tab, and how long it takes to replace one that leads
npm run bench -- --publish <file>         writes docs/benchmarks from the raw figures of a run
npm run bench -- --smoke                  short form of everything: shows that it works, and nothing about speed

  --sizes 1000,10000  numbers of documents; all of it: 1,000 and 10,000, else 10,000
  --rounds 5          how often everything is measured, in turns
  --minutes 1.5       no round begins that would not end in this time; the first always does
  --seed 1            of documents, questions and the order of the databases
  --dist dist         the build of Cairn to measure; left out, dist is brought up to date first

of limits also:
  --without dexie     leaves a contender out; may be given several times
  --profile           writes CPU profiles of page and workers beside the results (slows things down)

databases: ${peers.map(({ name }) => name).join(' ')}
workloads: ${workloads.map(({ name }) => name).join(' ')}
limits:    ${limitNames.join(' ')}`;
