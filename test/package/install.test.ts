import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { packFolder, ROOT, run } from './tarball.ts';

const { dependencies, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
let app: string;

beforeAll(async () => {
  app = makeFolder('installed');
  const overrides: Record<string, string> = {};
  for (const name of Object.keys(dependencies)) {
    overrides[name] = `file:${await packFolder(join(ROOT, 'node_modules', name), app)}`;
  }
  writeFileSync(join(app, 'package.json'), JSON.stringify({ private: true, overrides }));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', inject('tarball')], app);
});

afterAll(() => removeFolder(app));

const node = (script: string) => run(process.execPath, ['--input-type=module', '-e', script], app);

test('npm installs the tarball, without the network if its dependencies are cached', async () => {
  const missing = ['cairndb', ...Object.keys(dependencies)].filter(
    (name) => !existsSync(join(app, 'node_modules', name)),
  );
  expect(missing).toEqual([]);
  const { stdout } = await node(
    "console.log(Object.keys(await import('cairndb')).includes('connect'))",
  );
  expect(stdout.trim()).toBe('true');
});

test('npx cairndb mcp serves an exported database to an agent', async () => {
  await node(`
    import { writeFileSync } from 'node:fs';
    import { Database } from 'cairndb';
    const db = new Database({ name: 'shop' });
    const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
    await orders.insert({ _id: '1', item: 'lamp' });
    const file = await new Response(await db.exportAll()).arrayBuffer();
    writeFileSync('shop.ndjson.gz', new Uint8Array(file));
    await db.close();
  `);
  const query = { name: 'query', arguments: { collection: 'orders', criteria: { item: 'lamp' } } };
  const requests = [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: query },
  ];
  writeFileSync(join(app, 'requests'), requests.map((one) => JSON.stringify(one)).join('\n'));
  const command = 'npx --no-install cairndb mcp shop.ndjson.gz < requests';
  const { stdout, stderr } = await run('sh', ['-c', command], app);
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Map(answers.map(({ id, result }) => [id, result]))).toMatchObject(
    new Map([
      [1, { serverInfo: { name: 'cairndb', version } }],
      [2, { content: [{ type: 'text', text: expect.stringContaining('"lamp"') }] }],
    ]),
  );
  expect(stderr).toBe('');
});
