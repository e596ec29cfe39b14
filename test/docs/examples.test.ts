import ts from 'typescript';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as cairndb from '../../src/index.ts';
import { files } from '../../src/node/index.ts';
import * as testing from '../../src/testing/index.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';
import { fakeWorker } from '../contract/fake-worker.ts';
import { readExamples } from './pages.ts';

/** `await settings.get('theme'); // => { dark: true }` shows the result of an expression. */
const SHOWN = /^(?:await )?(.+); \/\/ => (.+)$/gm;

const AsyncFunction = (async () => undefined).constructor as new (
  ...args: string[]
) => (...args: unknown[]) => Promise<void>;

let clients: cairndb.DatabaseClient[] = [];

/** The package for the examples: it closes the clients that they open. */
const library = {
  ...cairndb,
  connect: (options: cairndb.ConnectOptions) =>
    opened(cairndb.connect({ worker: fakeWorker, ...options })),
  Database: class extends cairndb.Database {
    constructor(options: cairndb.DatabaseOptions) {
      super(options);
      opened(this);
    }
  },
};

function opened<Client extends cairndb.DatabaseClient>(client: Client): Client {
  clients.push(client);
  return client;
}

let globals: Record<string, unknown>;

const quiet = { log: () => undefined, warn: () => undefined, error: () => undefined };

/** The names that examples use without declaring them: example-globals.d.ts. */
beforeEach(async () => {
  clients = [];
  const db = library.connect({ name: `examples-${crypto.randomUUID()}` });
  const collection = (name: string) =>
    new db.Collection({ name: `given ${name}`, type: 'DOCUMENT_BASED' });
  const [users, orders, notes] = ['users', 'orders', 'notes'].map(collection);
  await users?.insertMany([
    { name: 'Ada', age: 36, address: { city: 'London' } },
    { name: 'Bo', age: 12, address: { city: 'Oslo' } },
  ]);
  globals = {
    ...library,
    db,
    connection: db,
    users,
    orders,
    notes,
    console: quiet,
    expect,
    importModule,
  };
});

afterEach(async () => {
  for (const client of clients) await client.close();
  await testing.closeTestDatabases();
});

const runnable = readExamples().filter(({ runs }) => runs);

test.each(runnable.map((example) => [`${example.page}:${example.line}`, example.code]))(
  'the example at %s runs and has the results that it shows',
  async (_, code) => {
    const checked = code.replaceAll(SHOWN, 'expect(await $1).toEqual($2);');
    const body = `{ ${withoutImports(transpile(checked))} }`;
    await new AsyncFunction(...Object.keys(globals), body)(...Object.values(globals));
  },
);

/** Modules by the names that examples import. */
function importModule(name: string): Promise<unknown> {
  if (name === 'cairndb') return Promise.resolve(library);
  if (name === 'cairndb/replication') return import('../../src/replication/index.ts');
  // Wherever an example stores, it is a folder of its own.
  if (name === 'cairndb/node')
    return Promise.resolve({ files: () => files(makeFolder('example')) });
  if (name === 'cairndb/encryption') return import('../../src/encryption/index.ts');
  if (name === 'cairndb/outbox') return import('../../src/outbox/index.ts');
  if (name === 'cairndb/text') return import('../../src/text/index.ts');
  if (name === 'cairndb/sqlite') return import('../../src/sqlite/index.ts');
  if (name === 'cairndb/undo') return import('../../src/undo/index.ts');
  if (name === 'cairndb/tanstack') return import('../../src/tanstack/index.ts');
  if (name === 'cairndb/automerge') return import('../../src/automerge/index.ts');
  if (name === 'cairndb/yjs') return import('../../src/yjs/index.ts');
  if (name === 'cairndb/testing') return Promise.resolve(testing);
  if (name === 'cairndb/backup-targets') return import('../../src/backup-targets/index.ts');
  if (name === 'cairndb/devtools') return import('../../src/devtools/index.ts');
  return import(/* @vite-ignore */ name);
}

/** Imports do not work in a function body, so a dynamic import replaces them. */
function withoutImports(code: string): string {
  return code
    .replaceAll(/^import \* as (\w+) from ('.*?');$/gm, 'const $1 = await importModule($2);')
    .replaceAll(/^import (\w+) from/gm, 'import { default: $1 } from')
    .replaceAll(/^import (\{.*?\}) from ('.*?');$/gm, 'const $1 = await importModule($2);')
    .replaceAll(/^export (?:\{\};$)?/gm, '');
}

function transpile(code: string): string {
  const { ESNext } = ts.ScriptTarget;
  return ts.transpile(code, { target: ESNext, module: ts.ModuleKind.ESNext });
}
