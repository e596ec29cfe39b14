import { createHandler, memory } from 'cairndb/server';
import { documentFiles, memoryFiles } from 'cairndb/server/files';

// A whole server: a function from Request to Response. Over PostgreSQL, only the stores are others.
export function startServer() {
  const store = memory();
  const handler = createHandler({
    store,
    authorize: () => true,
    scopes: { shop: (name) => ({ shop: name }) }, // an app checks whether the user may have it
    files: documentFiles({ store: memoryFiles() }),
  });
  return { store, handler };
}
