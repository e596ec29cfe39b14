import { describe } from 'vitest';
import { fromCouch } from '../../../src/replication/couchdb/couch-documents.ts';
import { couchdb } from '../../../src/replication/index.ts';
import { type StoryServer, stories } from '../remotes/stories.ts';
import { clusterLike, numbers } from './cluster-like.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';

describe('replicate() with couchdb()', () => {
  const server = useCouchServer();

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
