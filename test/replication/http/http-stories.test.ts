import { describe } from 'vitest';
import { decodeDocument } from '../../../src/codec/exact-json/wire-documents.ts';
import { http } from '../../../src/replication/index.ts';
import { createHandler, type Handler, memory } from '../../../src/server/index.ts';
import { type StoryServer, stories } from '../remotes/stories.ts';

const URL_OF_ORDERS = 'https://example.com/sync/orders';

describe('replicate() over http() with the handler', () => {
  stories(async (): Promise<StoryServer> => {
    let store = memory();
    let handler: Handler = createHandler({ store, authorize: () => true });
    return {
      connect(through) {
        const network = through((url, init) => handler(new Request(url, init)));
        return { remote: http({ url: URL_OF_ORDERS, fetch: network.fetch }), network };
      },
      async documents() {
        const { changes } = await store.pull('orders', undefined, 1000).then(async (first) => {
          const second = await store.pull('orders', first.checkpoint, 1000);
          return { changes: [...first.changes, ...second.changes] };
        });
        return changes
          .filter(({ document }) => document)
          .map(({ id, document }) => decodeDocument(document, id) as { _id: string })
          .sort((a, b) => (a._id < b._id ? -1 : 1));
      },
      async recreate() {
        store = memory();
        handler = createHandler({ store, authorize: () => true });
      },
      async restart() {
        handler = createHandler({ store, authorize: () => true });
      },
    };
  });
});
