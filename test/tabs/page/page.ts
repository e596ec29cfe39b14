import { type Connection, connect, Database, type LiveQuery } from '../../../src/cairndb.ts';
import { changePassword, encrypted } from '../../../src/encryption/index.ts';

/** Globals of the page for tests. */
export interface TabScope {
  connect: typeof connect;
  Database: typeof Database;
  encrypted: typeof encrypted;
  changePassword: typeof changePassword;
  /** The client of a test. */
  db: Connection;
  lives: LiveQuery<number | undefined>[];
  [own: string]: any;
}

/** Only the tests of replication load it. */
const loadReplication = () => import('../../../src/replication/index.ts');

/** Only the tests of outboxes load it. */
const loadOutbox = () => import('../../../src/outbox/index.ts');

/** Only the tests of texts load it. */
const loadYjs = async () => ({
  ...(await import('../../../src/yjs/index.ts')),
  ...(await import('yjs')),
  ...(await import('y-protocols/awareness')),
});

/** Only the tests of histories load it. */
const loadUndo = () => import('../../../src/undo/index.ts');

const loads = { loadReplication, loadOutbox, loadYjs, loadUndo };
Object.assign(window, { connect, Database, encrypted, changePassword, ...loads });

// Only the tests of frames ask for it.
if (location.hash.startsWith('#frame/')) void import('./frame.ts').then(({ report }) => report());
