import { existsSync, readdirSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import sizeChecks from '../../.size-limit.mjs';
import { peers } from '../../bench/page/peers.mjs';
import { anchorOf } from '../../site/.vitepress/anchors.ts';
import type { DatabaseClient, DocumentCollection, KeyValueCollection } from '../../src/index.ts';
import { PART_NAMES } from '../../src/protocol/parts.ts';
import { operandChecks } from '../../src/query/update/check-operators.ts';
import { ROOT, readPages, readText } from './pages.ts';

const pages = readPages();

const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

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

test('front matter is YAML of one line for each key', () => {
  const broken = [...pages].flatMap(([page, text]) => {
    const [, front = ''] = /^---\n(.*?)\n---$/ms.exec(text) ?? [];
    const isNested = page === 'docs/index.md' || page.startsWith('skills/');
    const lines = text.startsWith('---\n') && !isNested ? front.split('\n') : [];
    return lines
      .filter((line) => !/^\w+: (?!.*(?:: | #))\S.*$/.test(line))
      .map((one) => [page, one]);
  });
  expect(broken).toEqual([]);
});

const SOURCE_PATH = /`((?:[\w-]+\/)+[\w.-]+\.(?:ts|tsx|mjs))`/g;

const sources = ['src', 'worker', 'cli', 'test', 'bench', 'tools', 'demo'].flatMap((folder) =>
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

const decisions = readdirSync(`${ROOT}docs/decisions`);

test.each(decisions)('docs/decisions/%s begins with a decision of at most 20 lines', (file) => {
  const [head = ''] = readText(`docs/decisions/${file}`).split(/^## /m);
  const parts = [...head.matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, part]) => part);
  expect(parts).toEqual(['Context', 'Decision', 'Consequences']);
  const lines = head.split('\n').filter((line) => line !== '' && !line.startsWith('|'));
  expect(lines.length).toBeLessThanOrEqual(20);
});

test('every decision that the code names exists', () => {
  const named = sources
    .filter((path) => /\.(?:ts|mjs)$/.test(path))
    .flatMap((path) => [...readText(path.slice(1)).matchAll(/docs\/decisions\/(\d{3}[\w-]*)/g)])
    .map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !decisions.some((file) => file.startsWith(name)))).toEqual([]);
});

/** Sections that are not called as a class. */
const TITLES: Readonly<Record<string, string>> = { Answer: 'Answers of a server' };

describe('docs/errors.md lists exactly the codes of', () => {
  const sections = readText('docs/errors.md').split(/^## /m).slice(1);
  const code = sources
    .filter((path) => path.startsWith('/src/') && path.endsWith('.ts'))
    .map((path) => readText(path.slice(1)));
  const codesIn = (text: string) =>
    [...new Set([...text.matchAll(/'(\w+)'/g)].map(([, one]) => one))].toSorted();
  const types = code.flatMap((text) => [...text.matchAll(/^export type (\w+)Code =\n?(.+?;)$/gms)]);
  const classes = types
    .map(([, name = '', codes = '']) => ({ name: TITLES[name] ?? name, codes: codesIn(codes) }))
    .filter(({ codes }) => codes.length > 0);
  // 'aborted' ends in the page, which rejects with the reason of the signal.
  const plain = code.flatMap((text) => text.match(/new CairnError\(\s*'(?!aborted)\w+'/g) ?? []);
  classes.push({ name: 'CairnError', codes: codesIn(plain.join()) });

  test('all classes', () => {
    expect(classes.map(({ name }) => name).toSorted()).toEqual(
      sections.map((section) => section.split('\n')[0]).toSorted(),
    );
  });

  test.each(classes)('$name', ({ name, codes }) => {
    const section = sections.find((each) => each.startsWith(`${name}\n`)) ?? '';
    const listed = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, one]) => one);
    expect(listed.toSorted()).toEqual(codes);
  });
});

test('every code in docs/errors.md links to its remedy', () => {
  const rows = readText('docs/errors.md').split('\n## ').slice(1).join('\n');
  const remedies = [...rows.matchAll(/^\| `(\w+)` \|.*\| (.*) \|$/gm)];
  expect(remedies.length).toBeGreaterThan(100);
  expect(
    remedies.filter(([, , remedy]) => !remedy?.includes('](')).map(([, code]) => code),
  ).toEqual([]);
});

test('a newcomer reads CONTRIBUTING, architecture and the decisions in an hour', () => {
  const heads = decisions.map((file) => readText(`docs/decisions/${file}`).split(/^## /m)[0]);
  const text = [readText('CONTRIBUTING.md'), readText('docs/architecture.md'), ...heads].join('\n');
  expect(text.match(/\p{L}[^\s|]*/gu)?.length).toBeLessThanOrEqual(15_000); // 250 a minute
});

test('docs/reference/clients.md says of every part what loads it', () => {
  const parts = readText('docs/reference/clients.md').split('## Parts\n')[1] ?? '';
  const named = [...parts.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(named).toEqual(expect.arrayContaining([...PART_NAMES]));
});

test('docs/errors.md says of every code what to do', () => {
  const codes = readText('docs/errors.md').split(/^## /m).slice(1).join('');
  const rows = [...codes.matchAll(/^\| `\w+` \|.*$/gm)].map(([row]) => row);
  expect(rows.filter((row) => !/^\| `\w+` \| .+ \| \S.* \|$/.test(row))).toEqual([]);
});

test('docs/reference/update-operators.md shows every update operator', () => {
  const rows = readText('docs/reference/update-operators.md').matchAll(/^\| `\{ (\$\w+):/gm);
  expect(new Set([...rows].map(([, operator]) => operator))).toEqual(new Set(operandChecks.keys()));
});

/** The public members of a class; one that is missing here does not compile. */
type Members<Class> = Record<Exclude<keyof Class & string, `~${string}`>, 0>;

describe('docs/reference and docs/guides/backups.md name every public member of', () => {
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
    collections: 0,
    renameCollection: 0,
    destroy: 0,
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
    at: 0,
    diff: 0,
    restoreDocument: 0,
    Drop: 0,
    insert: 0,
    insertMany: 0,
    upsert: 0,
    upsertMany: 0,
    update: 0,
    patch: 0,
    patchMany: 0,
    patchOne: 0,
    modify: 0,
    archive: 0,
    unarchive: 0,
    delete: 0,
    deleteMany: 0,
    deleteOne: 0,
    get: 0,
    getMany: 0,
    find: 0,
    filter: 0,
    has: 0,
    count: 0,
    aggregate: 0,
    distinct: 0,
    explain: 0,
    each: 0,
    live: 0,
    liveCount: 0,
    liveAggregate: 0,
    liveDocument: 0,
    search: 0,
    suggest: 0,
    explainNearest: 0,
    hybrid: 0,
    nearest: 0,
    explainSearch: 0,
    liveSearch: 0,
    watch: 0,
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
    at: 0,
    diff: 0,
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
    aggregate: 0,
    keys: 0,
    entries: 0,
    count: 0,
    live: 0,
  };
  const text = [...pages]
    .filter(([page]) => page.startsWith('docs/reference/') || page === 'docs/guides/backups.md')
    .map(([, text]) => text)
    .join('\n');

  test.each(Object.entries({ clients, documents, keyValues }))('%s', (_, members) => {
    const named = (member: string) => new RegExp(`[\`.]${member}\\b`).test(text);
    expect(Object.keys(members).filter((member) => !named(member))).toEqual([]);
  });
});

test('the sizes in the docs equal the limits of the size check', () => {
  const [client, worker] = ['client, before its first call', 'worker'].map((part) =>
    sizeChecks.find(({ name }) => name === part)?.limit.replace(' kB', ''),
  );
  for (const page of ['README.md', 'docs/index.md', 'docs/guides/performance.md'])
    expect(found(/loads (\S+) kB (?:\(gzip\) )?before its first call/, page), page).toEqual([
      client,
    ]);
  const row = /^\| Size of client; worker .*?\| [^|]+ \| (\S+); (\S+) kB \|/m;
  expect(found(row, 'docs/benchmarks/limits.md')).toEqual([client, worker]);
});

test('the docs have the number of databases in the benchmark', () => {
  const others = peers.filter(({ name, kind }) => kind === 'database' && !name.startsWith('cairn'));
  const products = new Set(others.map(({ packages }) => packages[0]));
  const numerals: Record<number, string> = { 12: 'twelve', 15: 'fifteen' };
  const counts = [numerals[products.size], numerals[others.length]];
  const counted = /(\w+)\s+other\s+databases\s+in\s+(\w+)\s+configurations/;
  expect(found(counted, 'README.md')).toEqual(counts);
  expect(found(counted, 'docs/benchmarks.md')).toEqual(counts);
});

interface Measured {
  readonly contender: string;
  readonly workload: string;
  readonly metric: string;
  readonly values: readonly number[];
}

describe('the figures in README are medians of docs/benchmarks/10000.json', () => {
  const { measured }: { measured: Measured[] } = JSON.parse(readText('docs/benchmarks/10000.json'));
  const contenders = ['cairn-worker', 'dexie', 'rxdb-dexie', 'lokijs', 'sqlite'];

  test.each([
    ['insert all, until durable', 'bulk-insert', 'durable', 1],
    ['find 200 by an index', 'equality', 'ms', 1],
    ['find a tenth without an index', 'scan', 'ms', 1],
    ['live query, after a change', 'live-query', 'µs', 1000],
    ['reload, open, first answer, code loaded before', 'first-answer', 'ms', 1],
    ['code, kB', 'bundle', 'JavaScript', 1],
  ])('%s', (title, workload, metric, unit) => {
    const [, row = ''] =
      new RegExp(`^\\| ${title} \\|(.*)\\|$`, 'm').exec(readText('README.md')) ?? [];
    const figures = row.split('|').map((cell) => Number.parseFloat(cell));
    expect(figures).toHaveLength(contenders.length);
    for (const [index, contender] of contenders.entries()) {
      const found = measured.find(
        (each) =>
          each.contender === contender && each.workload === workload && each.metric === metric,
      );
      const sorted = found?.values.toSorted((a, b) => a - b) ?? [];
      const median = (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN) / unit;
      if (Number.isNaN(median)) expect(figures[index]).toBeNaN();
      else expect(Math.abs((figures[index] ?? 0) / median - 1), contender).toBeLessThan(0.03);
    }
  });
});

/** The groups of a pattern, matched in a page. */
function found(pattern: RegExp, page: string): string[] {
  return [...(pattern.exec(readText(page)) ?? [])].slice(1);
}

test.each([
  ['site/.vitepress/theme/sample.md', 37],
  ['docs/get-started.md', 78],
] as const)(
  '%s: says how to install, and its first code fits its column, of %d characters',
  (page, width) => {
    const text = readText(page);
    expect(text).toContain('```sh\nnpm install cairndb\n```');
    const code = /^```ts\n(.*?)^```/ms.exec(text)?.[1] ?? '';
    expect(Math.max(...code.split('\n').map((line) => line.length))).toBeLessThanOrEqual(width);
  },
);
