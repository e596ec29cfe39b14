import { describe, test } from 'vitest';
import { couchdb } from '../../../src/replication/index.ts';
import { remoteSuite } from '../../../src/replication/testing/index.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';

describe('the suite for remotes', () => {
  const server = useCouchServer();

  remoteSuite(
    {
      name: 'couchdb()',
      async open() {
        const database = await CouchTestDatabase.create(server());
        const remote = couchdb({ url: database.url, headers: server().headers });
        return { remote, recreate: () => database.recreate() };
      },
      // It knows the key of the newest push alone.
      lacks: ['keys', 'scopes'],
    },
    { describe, test },
  );
});
