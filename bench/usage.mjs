import { workloads } from './databases/catalogue.mjs';
import { workloads as limits } from './limits/workloads.mjs';
import { peers } from './page/peers.mjs';
import { workloads as relations } from './relations/workloads.mjs';
import { parts } from './replication/parts.mjs';

export const usage = `npm run bench                             every database, every workload; writes docs/benchmarks
npm run bench -- bulk-insert gets         some workloads
npm run bench -- --only dexie             single databases; repeatable
npm run bench -- --compare HEAD~1         this build and that of another commit, by ratio; also of limits
npm run bench -- limits [workload …]      Cairn against its limits
npm run bench -- relations [workload …]   joins and groups, once and live, beside other databases
npm run bench -- node                     in Node: Cairn over files(), NeDB, lmdb, better-sqlite3 if it is installed; --steady: loops of awaited writes alone
npm run bench -- first-visit              from navigation to the first answer, by cache and latency: --size 10000, --rounds 7, --http2
npm run bench -- first-paint              of the playground and the site, once built, by processor and network: --rounds 5
npm run bench -- encryption               encrypted databases against plain ones: --documents 10000, --rounds 11
npm run bench -- search [texts|vectors]   searches beside MiniSearch, Orama, FTS5 and RxDB's vectors: --sizes, --rounds 3, --only
npm run bench -- tabs                     calls in a follower, and failover
npm run bench -- replication [part …]     with PostgreSQL: first pull, push, many clients, rows, photos, sealed
npm run bench -- --continue <file>        adds rounds to a run of the same sources, up to --rounds
npm run bench -- --publish <file>         writes docs/benchmarks from the raw figures of a run
npm run bench -- --smoke                  short run: checks that everything works, its times mean nothing

  --sizes 1000,10000  numbers of documents; default 10000, for a full run 1000,10000
  --rounds 5          number of rounds
  --minutes 1.5       starts no round that would exceed this time; the first always runs
  --once 120          a database whose first round takes more seconds is measured in it alone
  --seed 1            for documents, queries and the order of the databases
  --dist dist         the build of Cairn to measure; default: dist, rebuilt if outdated

limits and relations only:
  --without dexie     excludes a contender; repeatable
  --profile           writes CPU profiles of page and workers beside the results (slows things down)

replication only:
  --documents 100000  of the first pull
  --changes 10000     of the push
  --photos 1000       that are sent and received
  --clients 200       that write for --seconds 120, --writes 5 a second together

databases: ${peers.map(({ name }) => name).join(' ')}
workloads: ${workloads.map(({ name }) => name).join(' ')}
limits:    ${limits.map(({ name }) => name).join(' ')}
relations: ${relations.map(({ name }) => name).join(' ')}
replication: ${parts.map(({ name }) => name).join(' ')}`;
