import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../tools/browsers/child.mjs';
import { allAtNight } from '../setup/at-night.ts';
import { makeApp } from './consumers.ts';
import { ROOT, run } from './tarball.ts';

/** Users have either. The newer does not know `Node10` any more. */
const TSC = { 6: 'typescript', 7: 'typescript7' } as const;

const APP = `
import { CairnError, connect, type Connection, Database, type DatabaseClient, type DocumentCollection } from 'cairndb';
import { inlineWorker } from 'cairndb/inline';
import { files } from 'cairndb/node';
import { testDatabase } from 'cairndb/testing';
import 'cairndb/worker';

interface Order { total: number; placed: Date; lines: { sku: string }[] }

export async function shop(db: DatabaseClient): Promise<number> {
  const orders: DocumentCollection<Order> = new db.Collection<Order>({
    name: 'orders',
    type: 'DOCUMENT_BASED',
    indicate_created_at: true,
  });
  const { _id } = await orders.insert({ total: 12, placed: new Date(), lines: [] });
  const found = await orders.find({ total: { $gt: 10 }, 'lines.sku': 'a' });
  const stamped = new db.Collection<Order>({ name: 'a', type: 'DOCUMENT_BASED', indicate_created_at: true });
  const day: Date | undefined = (await stamped.find({}))?._created_at;
  const [some] = await stamped.filter({}, { sort: { _created_at: -1 }, select: ['lines.sku'] });
  const sku: string | undefined = some?.lines[0]?.sku ?? day?.toISOString();
  // @ts-expect-error not selected
  some?.total;
  // @ts-expect-error no such path
  await stamped.find({ 'lines.skew': sku });
  const also = await orders.filter((order) => order.lines.length === 0);
  const stop = db.on('save', ({ collection, at }) => console.log(collection, at.getTime()));
  stop();
  if (db.status.last_error instanceof CairnError) console.log(db.status.last_error.code, _id);
  return (found?.total ?? 0) + also.length;
}

export const databases: DatabaseClient[] = [
  new Database({ name: 'a', storage: 'memory' }),
  new Database({ name: 'c', storage: files('./data') }),
  connect({ name: 'b', worker: inlineWorker }),
  testDatabase(),
];
export const connection: Connection = testDatabase();
`;

const WRONG = `
import { connect } from 'cairndb';
const orders = new (connect({ name: 'shop' }).Collection)<{ total: number }>({
  name: 'orders',
  type: 'DOCUMENT_BASED',
});
await orders.insert({ total: 'twelve' });
connect({ name: 'shop', worker: 'worker.js' });
`;

let app: string;

beforeAll(async () => {
  app = await makeApp({ 'app.ts': APP, 'wrong.ts': WRONG });
});

afterAll(() => {
  if (app) removeFolder(app);
});

/** The compiler's output for one file, with a check of our declarations. */
async function compile(
  file: string,
  options: Record<string, unknown>,
  version: keyof typeof TSC,
): Promise<string> {
  const project = `tsconfig.${JSON.stringify([file, options]).replace(/\W+/g, '-')}.json`;
  const compilerOptions = {
    target: 'ES2022',
    lib: ['ES2022', 'DOM'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    skipDefaultLibCheck: true, // those of TypeScript itself are not ours to check
    noEmit: true,
    ...options,
  };
  writeFileSync(join(app, project), JSON.stringify({ compilerOptions, files: [file] }));
  return run(
    process.execPath,
    [
      join(ROOT, 'node_modules', TSC[version], 'bin/tsc'),
      '--project',
      project,
      '--pretty',
      'false',
    ],
    app,
  ).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

// A compiler keeps one core busy.
const bundler = { module: 'ESNext', moduleResolution: 'Bundler' };
/** Deprecated: it reads neither `exports` nor their `types`. */
const node10 = { module: 'ESNext', moduleResolution: 'Node10', ignoreDeprecations: '6.0' };
/** Resolves as Node16. */
const nodeNext = { module: 'NodeNext', moduleResolution: 'NodeNext' };
const inWorker = { ...nodeNext, lib: ['ES2022', 'WebWorker'] };

type Case = readonly [version: keyof typeof TSC, options: Record<string, unknown>];
const CASES: readonly Case[] = [
  [7, inWorker],
  [6, node10],
  [6, nodeNext],
  [7, bundler],
];

test.concurrent.each(allAtNight(CASES, CASES.slice(0, 1)))(
  'the types compile in a strict app by TypeScript %i with %j',
  async (version, options) => {
    expect(await compile('app.ts', options, version)).toBe('');
  },
);

test.concurrent.each(allAtNight<keyof typeof TSC>([6, 7], [7]))(
  'the types reject wrong calls by TypeScript %i',
  async (version) => {
    const lines = (await compile('wrong.ts', bundler, version)).trim().split('\n');
    const errors = lines.filter((line) => !line.startsWith(' '));
    expect(errors).toEqual([
      expect.stringMatching(/^wrong\.ts\(7,.*'string' is not assignable to type 'number'/),
      expect.stringMatching(/^wrong\.ts\(8,.*'string' is not assignable to type 'WorkerSource/),
    ]);
  },
);
