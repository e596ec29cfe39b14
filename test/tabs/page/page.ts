import { type Connection, connect, Database, type LiveQuery } from '../../../src/index.ts';

/** What tests find in the page. */
export interface TabScope {
  connect: typeof connect;
  Database: typeof Database;
  /** What a test has opened. */
  db: Connection;
  lives: LiveQuery<number | undefined>[];
  [own: string]: any;
}

Object.assign(window, { connect, Database });
