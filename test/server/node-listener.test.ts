import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createHandler, memory, nodeListener } from '../../src/server/index.ts';

const store = memory();
const watch = vi.spyOn(store, 'watch');
let server: Server;
let port: number;

beforeAll(async () => {
  const handler = createHandler({ store, authorize: () => true });
  server = createServer(nodeListener(handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A request as Node sends it: fetch would tidy the path. */
async function send(path: string, method: string, body?: string): Promise<[number, string]> {
  const headers = { 'content-type': 'application/json' };
  const asked = request({ host: '127.0.0.1', port, path, method, headers });
  asked.end(body);
  const [response] = await once(asked, 'response');
  let text = '';
  for await (const part of response) text += part;
  return [response.statusCode, text];
}

test('requests and answers pass through', async () => {
  const [status, text] = await send('/sync/my%20orders/pull', 'POST', '{"limit":1}');
  expect([status, JSON.parse(text)]).toEqual([
    200,
    { changes: [], checkpoint: expect.any(String), more: false },
  ]);
});

test.each([
  ['//evil.example/orders/drop', 'POST', 404],
  ['/orders/pull', 'GET', 405],
  ['/orders/pull?after=1#x', 'POST', 200],
  ['http://evil.example/orders/drop', 'POST', 404],
  ['*', 'OPTIONS', 404],
  ['/orders/pull', 'TRACE', 400],
])('%s by %s is %d', async (path, method, status) => {
  const body = method === 'POST' ? '{}' : undefined;
  expect((await send(path, method, body))[0]).toBe(status);
});

test('a client that leaves frees its listener', async () => {
  const after = (await store.pull('orders', undefined, 1)).checkpoint;
  const headers = { 'content-type': 'application/json' };
  const path = '/sync/orders/watch';
  const asked = request({ host: '127.0.0.1', port, path, method: 'POST', headers });
  asked.on('error', () => undefined);
  asked.end(JSON.stringify({ after }));
  await expect.poll(() => watch.mock.calls.length).toBe(1);
  const signal = watch.mock.calls[0]?.[2];
  expect(signal?.aborted).toBe(false);
  asked.destroy();
  await expect.poll(() => signal?.aborted).toBe(true);
  expect(await watch.mock.results[0]?.value).toBe(false);
});
