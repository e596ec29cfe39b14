import { existsSync, readdirSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import sizeChecks from '../../.size-limit.mjs';
import { peers } from '../../bench/page/peers.mjs';
import { operandChecks } from '../../src/collection/update/operand-checks.ts';
import type { DatabaseClient, DocumentCollection, KeyValueCollection } from '../../src/index.ts';
import { ROOT, readPages, readText } from './pages.ts';

const pages = readPages();
const readme = readText('README.md');

/** GitHub's anchors of a page's headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test.each([...pages])('every link in %s leads somewhere', (page, text) => {
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].map(([, link = '']) => link);
  const dead = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(`${dirname(page)}/${path}`);
    if (!existsSync(`${ROOT}${target}`)) return true;
    return anchor !== undefined && !anchorsOf(readText(target)).includes(anchor);
  });
  expect(dead).toEqual([]);
});

const SOURCE_PATH = /`((?:[\w-]+\/)+[\w.-]+\.(?:ts|tsx|mjs))`/g;

const sources = ['src', 'worker', 'test', 'bench', 'tools', 'demo'].flatMap((folder) =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }).map(
    (file) => `/${folder}/${file}`,
  ),
);

// docs/architecture.md has a test of its own.
const others = [...pages].filter(([page]) => page !== 'docs/architecture.md');

test.each(others)('every source file that %s names exists', (_, text) => {
  const named = [...text.matchAll(SOURCE_PATH)].map(([, file]) => file);
  expect(named.filter((file) => !sources.some((path) => path.endsWith(`/${file}`)))).toEqual([]);
});

describe('docs/errors.md lists exactly the codes of', () => {
  const sections = readText('docs/errors.md').split(/^## /m).slice(1);
  const classes = readdirSync(`${ROOT}src/errors`).flatMap((file) => {
    const [, name, codes] =
      /export type (\w+)Code =([^;]+);/.exec(readText(`src/errors/${file}`)) ?? [];
    return name && codes
      ? [{ name, codes: [...codes.matchAll(/'(\w+)'/g)].map(([, code]) => code) }]
      : [];
  });

  test.each(classes)('$name', ({ name, codes }) => {
    const section = sections.find((each) => each.startsWith(`${name}\n`)) ?? '';
    const listed = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code);
    expect(listed.toSorted()).toEqual(codes.toSorted());
  });
});

test('docs/changing-data.md shows every update operator', () => {
  const rows = readText('docs/changing-data.md').matchAll(/^\| `\{ (\$\w+):/gm);
  expect(new Set([...rows].map(([, operator]) => operator))).toEqual(new Set(operandChecks.keys()));
});

/** The public members of a class; one that is missing here does not compile. */
type Members<Class> = Record<keyof Class & string, 0>;

describe('README and docs/backups.md name every public member of', () => {
  const clients: Members<DatabaseClient> = {
    name: 0,
    Collection: 0,
    status: 0,
    storage: 0,
    ready: 0,
    on: 0,
    transaction: 0,
    exportAll: 0,
    importAll: 0,
    save: 0,
    close: 0,
  };
  const documents: Members<DocumentCollection> = {
    name: 0,
    type: 0,
    ready: 0,
    sync: 0,
    on: 0,
    save: 0,
    createBackup: 0,
    listBackups: 0,
    loadBackup: 0,
    deleteBackup: 0,
    exportBackup: 0,
    importBackup: 0,
    verify: 0,
    Drop: 0,
    insert: 0,
    insertMany: 0,
    upsert: 0,
    upsertMany: 0,
    update: 0,
    patch: 0,
    patchMany: 0,
    modify: 0,
    archive: 0,
    unarchive: 0,
    delete: 0,
    deleteMany: 0,
    get: 0,
    getMany: 0,
    find: 0,
    filter: 0,
    has: 0,
    count: 0,
    explain: 0,
    each: 0,
    live: 0,
    liveCount: 0,
    liveDocument: 0,
  };
  const keyValues: Members<KeyValueCollection> = {
    name: 0,
    type: 0,
    ready: 0,
    sync: 0,
    on: 0,
    save: 0,
    createBackup: 0,
    listBackups: 0,
    loadBackup: 0,
    deleteBackup: 0,
    exportBackup: 0,
    importBackup: 0,
    verify: 0,
    Drop: 0,
    set: 0,
    get: 0,
    has: 0,
    delete: 0,
    push: 0,
    remove: 0,
    modify: 0,
    find: 0,
    filter: 0,
    increase: 0,
    decrease: 0,
    keys: 0,
    entries: 0,
    count: 0,
    live: 0,
  };
  const text = readme + readText('docs/backups.md');

  test.each(Object.entries({ clients, documents, keyValues }))('%s', (_, members) => {
    const named = (member: string) => new RegExp(`[\`.]${member}\\b`).test(text);
    expect(Object.keys(members).filter((member) => !named(member))).toEqual([]);
  });
});

test('the sizes in the docs equal the limits of the size check', () => {
  const [client, worker] = sizeChecks.map(({ limit }) => limit.replace(' kB', ''));
  expect(found(/loads (\S+) kB \(gzip\) before its first call/, 'README.md')).toEqual([client]);
  const row = /^\| Size of client; worker .*?\| [^|]+ \| (\S+); (\S+) kB \|/m;
  expect(found(row, 'docs/benchmarks/limits.md')).toEqual([client, worker]);
});

test('the docs have the number of databases in the benchmark', () => {
  const others = peers.filter(({ name, kind }) => kind === 'database' && !name.startsWith('cairn'));
  const products = new Set(others.map(({ packages }) => packages[0]));
  const numerals: Record<number, string> = { 12: 'twelve', 15: 'fifteen' };
  const counts = [numerals[products.size], numerals[others.length]];
  const counted = /(\w+) other databases in (\w+) configurations/;
  expect(found(counted, 'README.md')).toEqual(counts);
  expect(found(counted, 'docs/benchmarks.md')).toEqual(counts);
});

/** The groups of a pattern, matched in a page. */
function found(pattern: RegExp, page: string): string[] {
  return [...(pattern.exec(readText(page)) ?? [])].slice(1);
}
