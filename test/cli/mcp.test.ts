import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { files } from '../../src/node/index.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';
import { buildProgram } from '../node/child-program.ts';

let program: string;
let directory: string;
let file: string;
const started = new Set<Server>();

beforeAll(async () => {
  program = await buildProgram('../../cli/index.ts');
  directory = makeFolder('mcp');
  file = join(makeFolder('mcp-export'), 'shop.ndjson.gz');
  const db = new Database({ name: 'shop', storage: files(directory) });
  const orders = new db.Collection<{ item: string; price: number; at: Date }>({
    name: 'orders',
    type: 'DOCUMENT_BASED',
    indexes: ['price'],
    version: 3,
    migrate: { 2: (order) => order as never, 3: (order) => order as never },
  });
  await orders.insertMany(
    Array.from({ length: 40 }, (_, n) => ({
      ...{ _id: `o${n}`, item: n % 2 ? 'lamp' : 'desk', price: n },
      at: new Date(Date.UTC(2026, 0, 1 + n)),
    })),
  );
  const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
  await settings.set('theme', { dark: true });
  writeFileSync(file, new Uint8Array(await new Response(await db.exportAll()).arrayBuffer()));
  await db.close();
});

afterEach(async () => {
  for (const server of started) await server.end();
});
/** A server in a process of its own. */
class Server {
  readonly process: ChildProcess;
  readonly #answers = new Map<unknown, (message: any) => void>();
  readonly #lines: string[] = [];
  #errors = '';
  #last = 0;

  constructor(...args: string[]) {
    this.process = spawn(process.execPath, [program, 'mcp', ...args]);
    started.add(this);
    createInterface({ input: this.process.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.#lines.push(line);
      for (const message of [JSON.parse(line)].flat()) this.#answers.get(message.id)?.(message);
    });
    this.process.stderr?.on('data', (data) => {
      this.#errors += data;
    });
  }

  send(line: string): void {
    this.process.stdin?.write(`${line}\n`);
  }

  answer(id: unknown): Promise<any> {
    return new Promise((resolve) => this.#answers.set(id, resolve));
  }

  request(method: string, params?: object): Promise<any> {
    const id = ++this.#last;
    const answer = this.answer(id);
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return answer;
  }

  /** The result of a tool, parsed; the text of an error. */
  async call(name: string, given: object = {}): Promise<any> {
    const { result } = await this.request('tools/call', { name, arguments: given });
    const { text } = result.content[0];
    return result.isError ? `error ${text}` : JSON.parse(text);
  }

  get lastLine(): any {
    return JSON.parse(this.#lines.at(-1) as string);
  }

  async end(): Promise<{ code: unknown; errors: string }> {
    started.delete(this);
    this.process.stdin?.end();
    if (this.process.exitCode === null) await once(this.process, 'close');
    return { code: this.process.exitCode, errors: this.#errors };
  }
}

describe.each(['directory', 'file'])('a server over a %s', (kind) => {
  const open = () => (kind === 'file' ? new Server(file) : new Server(directory, 'shop'));

  test('says what it is, and lists its tools as reading ones', async () => {
    const server = open();
    const { result } = await server.request('initialize', { protocolVersion: '2025-03-26' });
    expect(result).toMatchObject({ protocolVersion: '2025-03-26', capabilities: { tools: {} } });
    server.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    expect((await server.request('ping')).result).toEqual({});
    const { tools } = (await server.request('tools/list')).result;
    expect(tools.map((tool: { name: string }) => tool.name)).toEqual([
      ...['list_collections', 'query', 'aggregate', 'explain'],
    ]);
    for (const { annotations, inputSchema } of tools) {
      expect(annotations).toEqual({ readOnlyHint: true });
      expect(inputSchema.type).toBe('object');
    }
    expect(await server.end()).toEqual({ code: 0, errors: '' });
  });

  test('lists collections, finds, groups and explains', async () => {
    const server = open();
    expect(await server.call('list_collections')).toMatchObject([
      { name: 'orders', type: 'DOCUMENT_BASED', documents: 40 },
      { name: 'settings', type: 'KEY_VALUE_BASED', documents: 1 },
    ]);
    const collection = 'orders';
    expect(await server.call('query', { collection })).toHaveLength(20);
    expect(
      await server.call('query', {
        ...{ collection, sort: { price: -1 }, limit: 2, select: ['price', 'at'] },
        criteria: { item: 'lamp', at: { $lt: { $date: '2026-01-11' } } },
      }),
    ).toEqual([
      { _id: 'o9', price: 9, at: { $date: Date.UTC(2026, 0, 10) } },
      { _id: 'o7', price: 7, at: { $date: Date.UTC(2026, 0, 8) } },
    ]);
    expect(await server.call('query', { collection: 'settings' })).toEqual([
      ['theme', { dark: true }],
    ]);
    expect(
      await server.call('aggregate', {
        collection,
        pipeline: [{ $group: { _id: '$item', sum: { $sum: '$price' } } }, { $sort: { _id: 1 } }],
      }),
    ).toEqual([
      { _id: 'desk', sum: 380 },
      { _id: 'lamp', sum: 400 },
    ]);
    const criteria = { price: { $gte: 38 } };
    const scan = await server.call('explain', { collection, criteria });
    expect(scan).toMatchObject({ documents_examined: 40, returned: 2 });
    const indexed = await server.call('explain', { collection, criteria, indexes: ['price'] });
    expect(indexed).toMatchObject({ plan: { kind: 'index' }, documents_examined: 0, returned: 2 });
  });

  test('tells an agent what was wrong, and goes on', async () => {
    const server = open();
    expect(await server.call('query', { collection: 'order' })).toMatch(
      /^error option_invalid: There is no collection "order", but "orders", "settings"/,
    );
    expect(
      await server.call('query', { collection: 'orders', criteria: { a: { $gtt: 1 } } }),
    ).toMatch(/^error operator_unknown/);
    expect(await server.call('aggregate', { collection: 'settings', pipeline: [] })).toMatch(
      /^error option_invalid/,
    );
    const theme = { collection: 'settings', criteria: { dark: true } };
    expect(await server.call('query', theme)).toMatch(
      /^error option_invalid: "settings" has keys and values: "criteria" is for documents/,
    );
    expect(await server.call('query', { ...theme, criteria: {}, archived: false })).toHaveLength(1);
    for (const wrong of [{ limit: 'all' }, { limit: -1 }, { skip: -1 }, { filter: { price: 1 } }])
      for (const collection of ['settings', 'orders'])
        expect(await server.call('query', { collection, ...wrong })).toMatch(
          /^error option_invalid: .*"(limit|skip|filter)"/,
        );
    for (const $date of ['yesterday', null])
      expect(
        await server.call('query', { collection: 'orders', criteria: { at: { $lt: { $date } } } }),
      ).toMatch(/^error option_invalid: .* is no date/);
    expect((await server.request('tools/call', { name: 'query', arguments: null })).result).toEqual(
      expect.objectContaining({ isError: true }),
    );
    const broken = server.answer(null);
    server.send('{ no json');
    expect((await broken).error.code).toBe(-32700);
    const list = server.answer(null);
    server.send('[]');
    expect((await list).error.code).toBe(-32600);
    const many = [server.answer('a'), server.answer('b'), server.answer(null)];
    const note = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const ping = { jsonrpc: '2.0', method: 'ping' };
    server.send(JSON.stringify([{ ...ping, id: 'a' }, note, { ...ping, id: 'b' }, 5]));
    expect(await Promise.all(many)).toMatchObject([
      { id: 'a', result: {} },
      { id: 'b', result: {} },
      { error: { code: -32600 } },
    ]);
    expect(server.lastLine).toHaveLength(3);
    expect((await server.request('resources/list')).error.code).toBe(-32601);
    expect((await server.request('tools/call', { name: 'constructor' })).error.code).toBe(-32602);
    expect(await server.call('query', { collection: 'orders' })).toHaveLength(20);
  });
});

test('it leaves the database as it is, with its indexes', async () => {
  const dump = async () => {
    const db = new Database({ name: 'shop', storage: files(directory) });
    const orders = new db.Collection({
      name: 'orders',
      type: 'DOCUMENT_BASED',
      version: 3,
      indexes: ['price'],
      migrate: { 2: (order: object) => order, 3: (order: object) => order },
    } as never) as any;
    const { plan, documents_examined } = await orders.explain({ price: { $gte: 38 } });
    const found = await orders.filter({});
    await db.close();
    return { plan, documents_examined, found };
  };
  const content = () =>
    readdirSync(join(directory, 'shop'))
      .filter((name) => name.endsWith('.ldb'))
      .map((name) =>
        createHash('sha256')
          .update(readFileSync(join(directory, 'shop', name)))
          .digest('hex'),
      );
  const before = await dump();
  const tables = content();
  const server = new Server(directory, 'shop');
  await server.call('query', { collection: 'orders' });
  await server.call('explain', { collection: 'orders', criteria: {}, indexes: ['item'] });
  await server.end();
  expect(content()).toEqual(expect.arrayContaining(tables));
  expect(await dump()).toEqual(before);
});

test.each([
  ['no command', [], /cairndb mcp <directory>/],
  [
    'a missing path',
    ['/nowhere/at/all'],
    /^There is no folder and no file .*\. Give the directory/,
  ],
  ['a path through a file', [`${process.execPath}/shop`], /^[^E].*\(ENOTDIR[^E]*\)\. Give a path/],
  ['no name', ['.'], /Name the database/],
])('%s is an error', async (_, args, message) => {
  const server = new Server(...args);
  const { code, errors } = await server.end();
  expect(code).toBe(1);
  expect(errors).toMatch(message);
});

test('a missing database, a busy one and a file of something else are errors, and make nothing', async () => {
  const missing = await new Server(directory, 'shopp').end();
  expect(missing).toMatchObject({
    code: 1,
    errors: expect.stringContaining('no database "shopp"'),
  });
  expect(readdirSync(directory)).toEqual(['shop']);
  const db = new Database({ name: 'shop', storage: files(directory) });
  await db.ready;
  expect((await new Server(directory, 'shop').end()).errors).toContain('database_busy');
  await db.close();
  expect((await new Server(program).end()).errors).toContain('file_not_gzip');
});

test('a process that was killed leaves a database that opens, and one that reads keeps others out', async () => {
  const killed = new Server(directory, 'shop');
  expect(await killed.call('query', { collection: 'orders' })).toHaveLength(20);
  const db = new Database({ name: 'shop', storage: files(directory) });
  await expect(db.ready).rejects.toMatchObject({ code: 'database_busy' });
  await db.close().catch(() => undefined);
  killed.process.kill('SIGKILL');
  await killed.end();
  const server = new Server(directory, 'shop');
  expect(await server.call('query', { collection: 'orders' })).toHaveLength(20);
  expect(await server.end()).toEqual({ code: 0, errors: '' });
});

test.each<[string, (whole: Uint8Array) => Uint8Array, RegExp]>([
  ['is empty', () => new Uint8Array(), /^file_\w+: /],
  ['ends in the middle', (whole) => whole.slice(0, whole.length / 2), /^file_\w+: /],
  ['lacks its last byte', (whole) => whole.slice(0, -1), /^file_\w+: /],
  [
    'has a byte of something else',
    (whole) => whole.map((byte, at) => (at === whole.length >> 1 ? byte ^ 1 : byte)),
    /^file_\w+: /,
  ],
  [
    'was written by a newer version',
    (whole) => edited(whole, (text) => text.replace(/"format_number":\d+/g, '"format_number":99')),
    /^\w+_newer: /,
  ],
  [
    'has a line that is no document',
    (whole) => edited(whole, (text) => text.replace('"lamp"', '"la\u0000')),
    /^file_\w+: /,
  ],
])('an export that %s is an error, and nothing of it is served', async (_, damage, message) => {
  const damaged = join(makeFolder('mcp-damaged'), 'shop.ndjson.gz');
  writeFileSync(damaged, damage(readFileSync(file)));
  const { code, errors } = await new Server(damaged).end();
  expect(code).toBe(1);
  expect(errors).toMatch(message);
  expect(errors.trim().split('\n')).toHaveLength(1);
});

/** The file with other text in it. */
function edited(whole: Uint8Array, change: (text: string) => string): Uint8Array {
  return gzipSync(change(gunzipSync(whole).toString()));
}
