/**
 * node handler-process.cjs <folder of the socket> <schema>: a server of its own; prints its port.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHandler, nodeListener } from '../../src/server/index.ts';
import { connectionsTo, listenTo, storeOn } from './connections.ts';

const [folder = '', schema = ''] = process.argv.slice(2);
const store = storeOn(connectionsTo(folder, schema), { listen: listenTo(folder, schema) });
const handler = createHandler({ store, authorize: () => true });
const server = createServer(nodeListener(handler)).listen(0, '127.0.0.1', () => {
  console.log((server.address() as AddressInfo).port);
});
