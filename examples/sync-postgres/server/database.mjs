import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { postgres } from 'cairndb/server';
import pg from 'pg';

/**
 * The database of DATABASE_URL, else a temporary PostgreSQL, else PGlite: a function that runs SQL,
 * and a store over it.
 */
export async function openDatabase() {
  const connectionString = process.env.DATABASE_URL;
  if (connectionString) return connect('PostgreSQL at DATABASE_URL', { connectionString });
  const cluster = await startCluster();
  if (!cluster) return openPGlite();
  const { host, stop } = cluster;
  const database = connect('A temporary PostgreSQL', { host, user: 'app', database: 'postgres' });
  return { ...database, close: () => database.close().then(stop) };
}

function connect(name, config) {
  const pool = new pg.Pool(config);
  pool.on('error', (error) => console.error('PostgreSQL:', error.message));
  const query = (text, values) => pool.query(text, values);
  const store = postgres(query, {
    // Rings open pages at once, when another process has changed something, too.
    listen: async (channel, onNotify, onLost) => {
      const client = new pg.Client(config);
      client.on('notification', ({ payload }) => onNotify(payload));
      client.on('error', onLost);
      await client.connect();
      await client.query(`listen ${channel}`);
      return () => client.end();
    },
  });
  return { name, query, store, close: () => store.close().then(() => pool.end()) };
}

async function openPGlite() {
  const db = await PGlite.create();
  const query = (text, values) => db.query(text, values);
  const store = postgres(query, {
    listen: (channel, onNotify) => db.listen(channel, onNotify),
  });
  return { name: 'PGlite', query, store, close: () => db.close() };
}

/**
 * PostgreSQL in a temporary folder, reached by a socket there; `undefined` where it cannot be
 * started.
 */
async function startCluster() {
  const debian = '/usr/lib/postgresql'; // outside of PATH
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const folders = (process.env.PATH ?? '').split(delimiter);
  folders.push(...versions.map((version) => join(debian, version, 'bin')));
  const bin = folders.find((folder) => existsSync(join(folder, 'initdb')));
  if (!bin || process.getuid?.() === 0) return undefined; // it refuses to run as root
  const host = mkdtempSync(join(tmpdir(), 'sync-postgres-'));
  const data = join(host, 'data');
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'app', '-A', 'trust', '-E', 'UTF8']);
  const options = ['-D', data, '-k', host, '-c', 'listen_addresses='];
  // Ctrl+C is ours to handle.
  const server = spawn(join(bin, 'postgres'), options, { detached: true });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const isReady = await new Promise((resolve) => {
    server.stderr.on('data', (text) => String(text).includes('ready to accept') && resolve(true));
    ended.then(() => resolve(false));
  });
  const stop = async () => {
    server.kill('SIGINT');
    await ended;
    rmSync(host, { recursive: true });
  };
  return isReady ? { host, stop } : stop();
}
