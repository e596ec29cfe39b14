import { join } from 'node:path';
import { Child, removeFolder } from '../../tools/browsers/child.mjs';
import { makeApp, type Served } from './consumers.ts';
import { userEnvironment } from './tarball.ts';

/** As in docs/sync/server.md, in memory. */
const SERVER = `
  import { createServer } from 'node:http';
  import { createHandler, memory, nodeListener } from 'cairndb/server';

  const handler = createHandler({
    store: memory(),
    authorize: (request) => request.headers.get('authorization') === 'Bearer ada' || undefined,
    cors: { origins: '*' },
  });
  const server = createServer(nodeListener(handler)).listen(0, '127.0.0.1', () => {
    console.log('port ' + server.address().port);
  });
`;

/** A process that runs the server half of the package. */
export async function startSyncServer(): Promise<Served> {
  const folder = await makeApp({ 'server.mjs': SERVER });
  const child = new Child(process.execPath, [join(folder, 'server.mjs')], userEnvironment());
  const [, port] = await child.waitFor(/port (\d+)/, 60_000);
  return {
    url: `http://127.0.0.1:${port}/sync`,
    async close() {
      await child.end();
      removeFolder(folder);
    },
  };
}

/**
 * Runs where `cairndb` and `cairndb/replication` are globals, and so uses nothing of this file: two
 * databases edit one document while they are apart. Returns what each of them has then.
 */
export async function replicateOrders(url: string) {
  const { cairndb, replication } = globalThis as any;
  const clients = ['one', 'two'].map((name) => {
    const db = new cairndb.Database({ name: `replica ${name}`, storage: 'memory' });
    const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
    const headers = { authorization: 'Bearer ada' };
    const sync = replication.replicate(orders, { remote: replication.http({ url, headers }) });
    return { db, orders, sync };
  });
  const [one, two] = clients as [any, any];
  const settle = async () => {
    for (const { sync } of [one, two, one, two]) await sync.settled({ timeout: 30_000 });
  };
  await one.orders.insert({ _id: 'o', item: 'lamp', at: new Date(0) });
  await settle();
  for (const { sync } of clients) sync.pause();
  await one.orders.patch('o', { count: 2 });
  await two.orders.patch('o', { note: 'urgent' });
  for (const { sync } of clients) sync.resume();
  await settle();
  const found = await Promise.all(
    clients.map(async ({ orders }) => {
      const { item, count, note, at } = await orders.get('o');
      return { item, count, note, at: at.getTime() };
    }),
  );
  const states = clients.map(({ sync }) => sync.status.state);
  for (const { db, sync } of clients) {
    await sync.stop();
    await db.close();
  }
  return { found, states };
}

const order = { item: 'lamp', count: 2, note: 'urgent', at: 0 };

/** What {@link replicateOrders} returns. */
export const REPLICATED = { found: [order, order], states: ['idle', 'idle'] };
