import { afterEach, expect, test, vi } from 'vitest';
import { InFlightRequests } from '../../src/page/connection/in-flight-requests.ts';
import { replicate } from '../../src/replication/index.ts';
import { closeTestDatabases, type TestDatabase, testBrowser } from '../../src/testing/index.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

afterEach(async () => {
  vi.restoreAllMocks();
  await closeDevices();
  await closeTestDatabases();
});

test('a round that brings a change goes on from the last one, and asks the engine for nothing', async () => {
  const server = new MemoryRemote();
  const device = new Device(server);
  await device.settled();
  const asked: string[] = [];
  const { send } = InFlightRequests.prototype;
  vi.spyOn(InFlightRequests.prototype, 'send').mockImplementation(function (
    this: InFlightRequests,
    request,
  ) {
    asked.push(request.op);
    return send.call(this, request);
  });
  const pulled = new Promise<void>((resolve) => device.sync.on('pulled', () => resolve()));
  server.write('a', { item: 'lamp' });
  await pulled;
  expect(asked).toContain('replicaApply');
  expect(asked).not.toContain('replicaOpen');
});

test('a replication that another page has made forget the server begins anew', async () => {
  const browser = testBrowser();
  const server = new MemoryRemote();
  const open = (db: TestDatabase) => {
    const orders = new db.Collection<{ item: string }>({ name: 'orders', type: 'DOCUMENT_BASED' });
    return { orders, sync: replicate(orders, { remote: server }) };
  };
  const leader = open(browser.openTab());
  await leader.sync.settled();
  const other = open(browser.openTab());
  await other.sync.settled();
  await other.sync.stop({ forget: true });
  const failures: unknown[] = [];
  leader.sync.on('status', ({ error }) => error && failures.push(error));
  server.write('a', { item: 'lamp' });
  await expect.poll(() => leader.orders.get('a')).toMatchObject({ item: 'lamp' });
  expect(failures).toEqual([]);
});
