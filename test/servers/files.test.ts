import { PGlite } from '@electric-sql/pglite';
import { afterEach, describe } from 'vitest';
import { postgresFiles } from '../../src/server/files/index.ts';
import { fileStories } from '../server/file-stories.ts';
import { openSchema } from './stores.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

describe('PGlite', () =>
  fileStories(async () => {
    const db = await PGlite.create();
    ends.push(() => db.close());
    const store = postgresFiles((text, values) => db.query(text, values));
    await store.setup();
    return store;
  }));

describe('PostgreSQL', () =>
  fileStories(async () => {
    const { pool, close } = await openSchema();
    ends.push(close);
    const store = postgresFiles((text, values) => pool.query(text, values));
    await store.setup();
    await store.setup();
    return store;
  }));
