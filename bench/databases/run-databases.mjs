import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { ROOT } from '../../tools/setup.mjs';
import { makePeople } from '../page/people.mjs';
import { buildIfStale } from '../shared/build.mjs';
import { buildPage } from '../shared/build-page.mjs';
import { describeMachine, machineLine } from '../shared/machine.mjs';
import { writeResults } from '../shared/results.mjs';
import { startServer } from '../shared/server.mjs';
import { contend } from './contender.mjs';
import { readEarlier } from './earlier-run.mjs';
import { measureAll } from './measure-all.mjs';
import { readOptions } from './options.mjs';
import { printDatabases } from './report/print-databases.mjs';
import { publish } from './report/publish.mjs';
import { versionsOf } from './versions.mjs';

const CAIRN = '/dist';
const WEIGHED = 1_000;

/** Compares the databases. @param {string[]} args */
export async function runDatabases(args) {
  const options = readOptions(args);
  const { peers, dist, smoke, seed, sizes, whole } = options;
  const earlier = options.earlier === undefined ? undefined : readEarlier(options.earlier, options);
  const server = await startServer({
    '/page': await buildPage('databases'),
    [CAIRN]: dist === undefined ? buildIfStale() : resolve(dist),
  });
  try {
    const machine = await describeMachine();
    console.log(machineLine(machine));
    const contenders = peers.map((peer) => contend(peer, CAIRN));
    const about = {
      at: earlier?.at ?? new Date().toISOString(),
      commit: earlier?.commit ?? commitNow(),
      machine,
      seed,
      bytesADocument: documentBytes(seed),
      contenders: peers.map(describe),
    };
    let rounds = earlier?.rounds ?? 0;
    const keep = (
      /** @type {import('./measure-databases.mjs').Measurement} */ { measured, failures, long },
      round = rounds,
    ) => {
      rounds = round;
      /** @type {import('./results.mjs').Results} */
      const results = { ...about, rounds, measured, failures, long };
      return { results, file: writeResults(results, 'databases') };
    };
    const measurement = await measureAll(server, contenders, options, keep, earlier);
    const { failures } = measurement;
    const { results, file } = keep(measurement);
    if (smoke) console.log('Smoke run: everything works; the times mean nothing.');
    else printDatabases(results);
    console.log(`\nwritten to ${file}`);
    if (whole) for (const size of sizes) console.log(`written to ${publish(results, size)}`);
    const broken = failures.filter(({ slow }) => !slow || smoke);
    if (broken.length > 0) {
      throw new Error(`Failures:\n${broken.map(({ reason }) => `  ${reason}`).join('\n')}`);
    }
  } finally {
    server.close();
  }
}

/** The description of a peer in the results. @param {import('../page/peer.mjs').Peer} peer */
function describe({ load, plain, key, packages, ...peer }) {
  return { savedBy: undefined, ...peer, versions: versionsOf({ name: peer.name, packages }) };
}

/** The measured commit, with a + for uncommitted changes. */
function commitNow() {
  const git = (/** @type {string[]} */ ...args) =>
    spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? '';
  const changed = git('status', '--porcelain', '--', 'src', 'worker') === '' ? '' : '+';
  return `${git('rev-parse', '--short', 'HEAD') || 'unknown'}${changed}`;
}

/** Average bytes of a document as JSON. @param {number} seed */
const documentBytes = (seed) =>
  Math.round(JSON.stringify(makePeople(WEIGHED, seed)).length / WEIGHED);
