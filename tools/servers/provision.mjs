/**
 * node tools/servers/provision.mjs
 *
 * Makes the PostgreSQL of the tests available: with apt as root on Debian and Ubuntu; elsewhere it
 * takes what is installed. Ends with an error if it is missing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const APT = '/usr/bin/apt-get';

/** Debian installs each version in a folder of its own, outside PATH. */
const DEBIAN = '/usr/lib/postgresql';

const PROGRAMS = ['initdb', 'postgres', 'psql', 'createdb', 'pg_dump', 'pg_basebackup'];

/** The folder of the programs of PostgreSQL; `undefined` if there is none. */
export function findPostgres() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a));
  const folders = [
    process.env.POSTGRES_BIN ?? '',
    ...(process.env.PATH ?? '').split(delimiter),
    ...newest.map((version) => `${DEBIAN}/${version}/bin`),
  ];
  return folders.find((folder) =>
    PROGRAMS.every((program) => folder !== '' && existsSync(join(folder, program))),
  );
}

/** Installs PostgreSQL if it is missing; its folder, or `undefined`. */
export function provisionPostgres() {
  if (findPostgres() === undefined && existsSync(APT) && process.getuid?.() === 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    for (const args of [
      ['update', '-q'],
      ['install', '-y', '-q', '--no-install-recommends', 'postgresql'],
    ]) {
      console.log(`$ ${APT} ${args.join(' ')}`);
      spawnSync(APT, args, { stdio: 'inherit', env });
    }
  }
  return findPostgres();
}

export const POSTGRES_MISSING =
  'PostgreSQL is not on this machine. On Debian or Ubuntu: sudo apt-get install postgresql. Elsewhere install version ' +
  '13 or newer and, if initdb is not in PATH, set POSTGRES_BIN to its folder.';

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const folder = provisionPostgres();
  console.log(folder ?? POSTGRES_MISSING);
  if (folder === undefined) process.exitCode = 1;
}
