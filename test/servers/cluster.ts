import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { findPostgres, POSTGRES_MISSING } from '../../tools/servers/provision.mjs';

/** A PostgreSQL of its own in a temporary folder, reached by a socket in that folder. */
export interface Cluster {
  readonly folder: string;
  /** Ends the postmaster at once, as a crash does, and starts another on the same files. */
  crash(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Another cluster on a copy of the files of this one, which must be stopped. */
  copy(): Promise<Cluster>;
  /** A standby of this one. */
  standby(): Promise<Cluster>;
  /** Runs a program of PostgreSQL as a client of this one. */
  run(program: string, ...args: string[]): void;
  remove(): Promise<void>;
}

/** The server refuses to run as root, who owns what Debian's package has installed. */
function identity(): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres']));
  return { uid: id('-u'), gid: id('-g') };
}

/** Starts a new cluster. */
export async function startCluster(): Promise<Cluster> {
  const { bin, folder } = newFolder();
  const data = join(folder, 'data');
  const args = ['-D', data, '-U', 'cairn', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(bin, 'initdb'), args, { ...identity(), cwd: folder, stdio: 'ignore' });
  return runCluster(bin, folder);
}

function newFolder(): { bin: string; folder: string } {
  const bin = findPostgres();
  if (bin === undefined) throw new Error(POSTGRES_MISSING);
  const folder = mkdtempSync(join(tmpdir(), 'cairn-postgres-'));
  const { uid, gid } = identity();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return { bin, folder };
}

async function runCluster(bin: string, folder: string): Promise<Cluster> {
  let running: ChildProcess | undefined;
  const onExit = (): unknown => running?.kill('SIGKILL');
  process.on('exit', onExit);

  async function start(): Promise<void> {
    // A crashed server's children may hold its memory for a moment yet: then the new one ends, and the next tries.
    for (let attempt = 0; attempt < 500; attempt++) {
      const args = ['-D', join(folder, 'data'), '-k', folder, '-c', 'listen_addresses='];
      const server = spawn(join(bin, 'postgres'), [...args, '-c', 'max_connections=150'], {
        ...identity(),
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      running = server;
      if (await isReady(server)) return;
    }
    throw new Error('PostgreSQL does not start.');
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ended = running;
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
    ended.kill(signal);
    await once(ended, 'exit');
  }

  const cluster: Cluster = {
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
      return runCluster(bin, other);
    },
    async standby() {
      const { folder: other } = newFolder();
      const data = join(other, 'data');
      cluster.run('pg_basebackup', '-D', data, '-R', '-c', 'fast', '--no-sync');
      return runCluster(bin, other);
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

/** Whether the server reports that it accepts connections, before it ends. */
function isReady(server: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    let log = '';
    server.stderr?.on('data', (text) => {
      log += text;
      if (/ready to accept (?:read-only )?connections/.test(log)) resolve(true);
    });
    server.once('exit', () => resolve(false));
  });
}
