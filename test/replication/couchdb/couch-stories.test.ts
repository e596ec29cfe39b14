import { describe } from 'vitest';
import { fromCouch } from '../../../src/replication/couchdb/couch-documents.ts';
import { couchdb } from '../../../src/replication/index.ts';
import { type StoryServer, stories } from '../remotes/stories.ts';
import { clusterLike } from './cluster-like.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';

describe('replicate() with couchdb()', () => {
  const server = useCouchServer();

  /** The same each time, and not evenly spread. */
  function numbers(): () => number {
    let state = 1;
    return () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
  }

  stories(async (): Promise<StoryServer> => {
    const { headers, isReal } = server();
    const database = await CouchTestDatabase.create(server());
    const reach = isReal ? fetch : clusterLike(fetch, numbers());
    return {
      connect(through) {
        const network = through((url, init) => reach(url, init));
        return { remote: couchdb({ url: database.url, headers, fetch: network.fetch }), network };
      },
      documents: async () =>
        (await database.documents()).map((couch) => fromCouch(couch).document as object),
      recreate: () => database.recreate(),
      restart: () => server().restart(),
    };
  });
});
