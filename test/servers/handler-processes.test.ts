import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { row } from '../server/store-contract.ts';
import { openSchema, type SchemaStore } from './stores.ts';

let opened: SchemaStore;
let folder: string;
const processes: ChildProcess[] = [];
const urls: string[] = [];

beforeAll(async () => {
  opened = await openSchema();
  folder = mkdtempSync(join(process.cwd(), 'node_modules/.cairn-handler-'));
  const outfile = join(folder, 'handler.mjs');
  await build({
    entryPoints: [new URL('./handler-process.ts', import.meta.url).pathname],
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' },
    loader: { '.sql': 'text' },
  });
  for (let number = 0; number < 3; number++) {
    const args = [outfile, inject('postgres'), opened.schema];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    processes.push(child);
    const [port] = await once(child.stdout!, 'data');
    urls.push(`http://127.0.0.1:${String(port).trim()}/sync`);
  }
});

afterAll(async () => {
  for (const child of processes) child.kill();
  await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

async function call(
  server: number,
  path: string,
  body: object,
  signal?: AbortSignal,
): Promise<any> {
  const response = await fetch(`${urls[server]}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
  return response.json();
}

test('a change by one process wakes those that wait at the others', async () => {
  const { checkpoint: after } = await call(0, 'orders/pull', {});
  const waiting = [0, 1, 2].map((server) => call(server, 'orders/watch', { after }));
  const rows = [{ id: 'a', base: null, key: 'k', document: { _id: 'a' } }];
  const { results } = await call(2, 'orders/push', { rows });
  expect(results).toEqual([{ version: expect.any(String) }]);
  // a process that hears of nothing answers { changed: false } after 25 seconds
  expect(await Promise.all(waiting)).toEqual(Array(3).fill({ changed: true }));
  expect((await call(0, 'orders/pull', { after })).changes).toMatchObject([{ id: 'a' }]);
});

test('a lost connection of LISTEN wakes those that wait, and they hear of the next change', async () => {
  const { checkpoint: after } = await call(0, 'orders/pull', {});
  const own = "query = 'listen cairn' and application_name = $1";
  const listeners = async () => {
    const text = `select pid from pg_stat_activity where ${own}`;
    return (await opened.pool.query(text, [opened.schema])).rows.map(({ pid }) => pid as number);
  };
  const waiting = [0, 1].map((server) => call(server, 'orders/watch', { after }));
  await expect.poll(async () => (await listeners()).length).toBeGreaterThanOrEqual(2);
  const kill = `select pg_terminate_backend(pid) from pg_stat_activity where ${own}`;
  await opened.pool.query(kill, [opened.schema]);
  expect(await Promise.all(waiting)).toEqual([{ changed: true }, { changed: true }]);
  const again = [0, 1].map((server) => call(server, 'orders/watch', { after }));
  await opened.store.push('orders', [row('b', 1)]);
  expect(await Promise.all(again)).toEqual([{ changed: true }, { changed: true }]);
});

test('Node: a body over the limit is not read to its end', async () => {
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      sent += 1;
      controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
      if (sent === 200) controller.close();
    },
  });
  const answer = fetch(`${urls[0]}/orders/push`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' },
  } as RequestInit).then(({ status }) => status);
  // a client that still sends may see the end of the connection before it reads the answer
  expect([413, 'closed']).toContain(await answer.catch(() => 'closed'));
  expect(sent).toBeLessThan(200);
  expect((await call(0, 'orders/pull', {})).more).toBe(false);
});
