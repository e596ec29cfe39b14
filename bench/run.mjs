/** npm run bench: measures in a real browser; `-- --help` lists the options. */
import { publishFile } from './databases/report/publish.mjs';
import { runComparison } from './databases/run-comparison.mjs';
import { runDatabases } from './databases/run-databases.mjs';
import { runEncryption } from './encryption/run-encryption.mjs';
import { runFirstPaint } from './first-paint/run-first-paint.mjs';
import { runFirstVisit } from './first-visit/run-first-visit.mjs';
import { runLimits } from './limits/run-limits.mjs';
import { runNode } from './node/run-node.mjs';
import { runRelations } from './relations/run-relations.mjs';
import { runReplication } from './replication/run-replication.mjs';
import { runSearch } from './search/run-search.mjs';
import { runTabs } from './tabs/run-tabs.mjs';
import { usage } from './usage.mjs';

const args = process.argv.slice(2);
/** What a short run has, but for `EFFORT=2`: other databases change with a dependency alone. */
const OFTEN = {
  databases: 'cairn-worker,cairn-thread,dexie,indexeddb',
  limits: ['gets', 'open-indexed'],
};

function choose() {
  if (args.includes('--help')) return () => console.log(usage);
  if (args[0] === 'limits') return () => runLimits(args.slice(1));
  if (args[0] === 'first-visit') return () => runFirstVisit(args.slice(1));
  if (args[0] === 'first-paint') return () => runFirstPaint(args.slice(1));
  if (args[0] === 'encryption') return () => runEncryption(args.slice(1));
  if (args[0] === 'node') return () => runNode(args.slice(1));
  if (args[0] === 'search') return () => runSearch(args.slice(1));
  if (args[0] === 'tabs') return () => runTabs(args.slice(1));
  if (args[0] === 'relations') return () => runRelations(args.slice(1));
  if (args[0] === 'replication') return () => runReplication(args.slice(1));
  if (args.some((arg) => arg.startsWith('--compare'))) return () => runComparison(args);
  if (args.length === 1 && args[0] === '--smoke') {
    const isThorough = Number(process.env.EFFORT ?? 1) > 1;
    const some = isThorough ? [] : ['--only', OFTEN.databases];
    // Times do not matter then, and the limits keep one core busy.
    return () =>
      Promise.all([
        runLimits([...args, ...(isThorough ? [] : OFTEN.limits)]),
        runDatabases([...args, ...some]),
        runNode(args),
        isThorough && runEncryption(args),
        isThorough && runSearch(args),
        isThorough && runRelations(args),
      ]);
  }
  const [first, file] = args;
  if (first === '--publish' && file) return () => publishFile(file);
  return () => runDatabases(args);
}

// Playwright closes the browser and lets the run go on, which would count each database that is
// left as failed.
process.once('SIGTERM', () => process.exit(143));

try {
  await choose()();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
