/**
 * A process of its own that serves pages and answers their replication; sends its origin to its
 * parent.
 */
import { startServer } from '../shared/server.mjs';
import { connectionsTo, listenTo } from './connections.mjs';
import { filesBuild, serverBuild } from './server-build.mjs';

const CONNECTIONS = 10;

const [folder = '', dist = '', folders = '{}'] = process.argv.slice(2);
const { createHandler, nodeListener, postgres } = await serverBuild(dist);
const pool = connectionsTo(folder, CONNECTIONS);
const store = postgres((text, values) => pool.query(text, values), { listen: listenTo(folder) });
const { documentFiles, postgresFiles } = await filesBuild(dist);
const files = documentFiles({ store: postgresFiles((text, values) => pool.query(text, values)) });
const handler = createHandler({ store, files, authorize: () => true });
const server = await startServer(JSON.parse(folders), nodeListener(handler));
process.send?.(server.origin());
process.once('disconnect', () => process.exit());
