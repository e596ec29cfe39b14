import type { Person } from './person.ts';

/** An open database of people, with indexes on `group` and `score`. */
export interface Store {
  /** Resolves when all of them are in storage. */
  readonly insertMany: (people: readonly Person[]) => Promise<unknown>;
  readonly get: (id: string) => Promise<{ readonly name: string } | undefined>;
  readonly findGroup: (group: number) => Promise<readonly object[]>;
  /** From, and below to; no index helps. */
  readonly findZips: (from: number, to: number) => Promise<readonly object[]>;
  /** Those with the lowest scores, in order. */
  readonly firstByScore: (limit: number) => Promise<readonly { readonly score: number }[]>;
  readonly close: () => Promise<unknown>;
}

/** What runs a contender, used as its documentation advises. */
export interface Driver {
  readonly version: string;
  /** Makes the database, or opens it where it exists. */
  readonly open: (database: string) => Promise<Store>;
  /** What IndexedDB calls its database. */
  readonly stored: (database: string) => string;
}

/** What is compared. */
export interface Contender {
  readonly name: string;
  /** What has to be known to read its figures. */
  readonly note: string;
  /** Loads its code, which nobody needs who does not look. */
  readonly load: () => Promise<Driver>;
}
