import { createHandler, memory } from 'cairndb/server';

// A whole server: a function from Request to Response. Over PostgreSQL, only the store is another.
export function startServer() {
  const store = memory();
  return { store, handler: createHandler({ store, authorize: () => true }) };
}
