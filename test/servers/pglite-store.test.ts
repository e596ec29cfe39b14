import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll } from 'vitest';
import { type PostgresStore, postgres } from '../../src/server/index.ts';
import { storeContract } from '../server/store-contract.ts';

let store: PostgresStore;
let db: PGlite;

beforeAll(async () => {
  db = await PGlite.create();
  store = postgres((text, values) => db.query(text, values), {
    listen: (channel, onNotify) => db.listen(channel, onNotify),
  });
  await store.setup();
});

afterAll(async () => {
  await store.close();
  await db.close();
});

storeContract('postgres() over PGlite', () => store);
