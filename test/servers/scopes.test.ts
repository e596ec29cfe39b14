import { PGlite } from '@electric-sql/pglite';
import { afterEach, describe } from 'vitest';
import { postgres } from '../../src/server/index.ts';
import { closeDevices } from '../replication/device.ts';
import { scopeStories } from '../replication/scope-stories.ts';
import { openSchema } from './stores.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  await closeDevices();
  for (const end of ends.splice(0)) await end();
});

describe('PGlite', () =>
  scopeStories(async () => {
    const db = await PGlite.create();
    ends.push(() => db.close());
    const store = postgres((text, values) => db.query(text, values));
    await store.setup();
    return store;
  }));

describe('PostgreSQL', () =>
  scopeStories(async () => {
    const { store, close } = await openSchema();
    ends.push(close);
    return store;
  }));
