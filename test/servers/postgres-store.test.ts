import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { row, storeContract } from '../server/store-contract.ts';
import { listenTo, storeOn } from './connections.ts';
import { openSchema, type SchemaStore } from './stores.ts';

describe.each(['LISTEN', 'polling'])('PostgreSQL with %s', (way) => {
  let opened: SchemaStore;

  beforeAll(async () => {
    const options = way === 'LISTEN' ? { listen: listenTo(inject('postgres')) } : { poll: 5 };
    opened = await openSchema(10, options);
  });

  afterAll(() => opened.close());

  storeContract(`postgres() with ${way}`, () => opened.store);
});

describe('postgres()', () => {
  let opened: SchemaStore;

  beforeAll(async () => {
    opened = await openSchema();
  });

  afterAll(() => opened.close());

  test('setup runs in several connections at once, and again', async () => {
    const { schema, pool } = opened;
    await pool.query(`drop schema ${schema} cascade; create schema ${schema}`);
    await Promise.all(Array.from({ length: 8 }, () => storeOn(pool).setup()));
    await storeOn(pool).setup();
    expect(await opened.store.push('a', [row('a', 1)])).toEqual([
      { version: expect.stringMatching(/^1-/) },
    ]);
  });
});
