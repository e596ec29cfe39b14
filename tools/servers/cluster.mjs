import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { findPostgres, POSTGRES_MISSING } from './provision.mjs';

/**
 * A PostgreSQL of its own in a temporary folder, reached by a socket in that folder.
 *
 * @typedef {object} Cluster
 * @property {string} folder
 * @property {() => Promise<void>} crash ends the postmaster at once, as a crash does
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} stop
 * @property {() => Promise<Cluster>} copy another cluster on a copy of the files of this one, which
 *   must be stopped
 * @property {() => Promise<Cluster>} standby a standby of this one
 * @property {(program: string, ...args: string[]) => void} run runs a program of PostgreSQL as a
 *   client of this one
 * @property {() => Promise<void>} remove
 */

/**
 * The server refuses to run as root, who owns what Debian's package has installed.
 *
 * @returns {{ uid?: number, gid?: number }}
 */
function identity() {
  if (userInfo().uid !== 0) return {};
  const id = (/** @type {string} */ flag) => Number(execFileSync('id', [flag, 'postgres']));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * Starts a new cluster.
 *
 * @param {string[]} settings such as `fsync=off`: a crash of its processes loses nothing of the
 *   system's memory, and no test waits for a busy disk
 * @returns {Promise<Cluster>}
 */
export async function startCluster(...settings) {
  const { bin, folder } = newFolder();
  const data = join(folder, 'data');
  const args = ['-D', data, '-U', 'cairn', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(bin, 'initdb'), args, { ...identity(), cwd: folder, stdio: 'ignore' });
  return runCluster(bin, folder, settings);
}

function newFolder() {
  const bin = findPostgres();
  if (bin === undefined) throw new Error(POSTGRES_MISSING);
  const folder = mkdtempSync(join(tmpdir(), 'cairn-postgres-'));
  const { uid, gid } = identity();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return { bin, folder };
}

/**
 * @param {string} bin
 * @param {string} folder
 * @param {readonly string[]} settings
 * @returns {Promise<Cluster>}
 */
async function runCluster(bin, folder, settings) {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let running;
  const onExit = () => running?.kill('SIGKILL');
  process.on('exit', onExit);

  async function start() {
    // A crashed server's children may hold its memory for a moment yet: then the new one ends, and
    // the next tries.
    for (let attempt = 0; attempt < 500; attempt++) {
      const all = ['listen_addresses=', 'max_connections=150', ...settings];
      const args = ['-D', join(folder, 'data'), '-k', folder, ...all.flatMap((one) => ['-c', one])];
      const server = spawn(join(bin, 'postgres'), args, {
        ...identity(),
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      running = server;
      if (await isReady(server)) return;
    }
    throw new Error('PostgreSQL does not start.');
  }

  /** @param {NodeJS.Signals} signal */
  async function end(signal) {
    const ended = running;
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
    ended.kill(signal);
    await once(ended, 'exit');
  }

  /** @type {Cluster} */
  const cluster = {
    folder,
    start,
    stop: () => end('SIGINT'),
    crash: () => end('SIGKILL'),
    async copy() {
      const { folder: other } = newFolder();
      const { uid } = identity();
      // by the owner of the files, so that they stay his
      const options = { ...identity(), cwd: other };
      if (uid === undefined) cpSync(join(folder, 'data'), join(other, 'data'), { recursive: true });
      else execFileSync('cp', ['-a', join(folder, 'data'), other], options);
      return runCluster(bin, other, settings);
    },
    async standby() {
      const { folder: other } = newFolder();
      const data = join(other, 'data');
      cluster.run('pg_basebackup', '-D', data, '-R', '-c', 'fast', '--no-sync');
      return runCluster(bin, other, settings);
    },
    run(program, ...args) {
      const env = { ...process.env, PGHOST: folder, PGUSER: 'cairn' };
      execFileSync(join(bin, program), args, { ...identity(), cwd: folder, env, stdio: 'pipe' });
    },
    async remove() {
      await end('SIGINT');
      process.off('exit', onExit);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await start();
  return cluster;
}

/**
 * Whether the server reports that it accepts connections, before it ends.
 *
 * @param {import('node:child_process').ChildProcess} server
 * @returns {Promise<boolean>}
 */
function isReady(server) {
  return new Promise((resolve) => {
    let log = '';
    server.stderr?.on('data', (text) => {
      log += text;
      if (/ready to accept (?:read-only )?connections/.test(log)) resolve(true);
    });
    server.once('exit', () => resolve(false));
  });
}
