import { describe, test } from 'vitest';
import { couchdb } from '../../../src/replication/index.ts';
import { remoteSuite } from '../../../src/replication/testing/index.ts';
import { clusterLike, numbers } from './cluster-like.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';

describe('the suite for remotes', () => {
  const server = useCouchServer();

  for (const isCluster of [false, true])
    remoteSuite(
      {
        name: isCluster ? 'couchdb() like a cluster' : 'couchdb()',
        async open() {
          const database = await CouchTestDatabase.create(server());
          const { headers, fetch, isReal } = server();
          const remote = couchdb({
            ...{ url: database.url, headers },
            fetch: isCluster && !isReal ? clusterLike(fetch, numbers()) : fetch,
            scopes: { owner: (owner) => ({ owner }) },
          });
          const scope = { ask: { owner: 'ada' }, inside: { owner: 'ada' }, outside: { n: 1 } };
          return { remote, scope, recreate: () => database.recreate() };
        },
        // It knows the key of the newest push alone.
        lacks: ['keys'],
      },
      { describe, test },
    );
});
