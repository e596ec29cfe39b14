import { type Connection, connect, Database } from '../../../src/index.ts';

/** What tests find in the page. */
export interface TabScope {
  connect: typeof connect;
  Database: typeof Database;
  /** What a test has opened. */
  db: Connection;
  [own: string]: any;
}

Object.assign(window, { connect, Database });
