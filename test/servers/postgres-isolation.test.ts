import { afterEach, describe, expect, inject, test } from 'vitest';
import { createHandler } from '../../src/server/index.ts';
import { ask, wire } from '../server/requests.ts';
import { connectionsTo, storeOn } from './connections.ts';
import { openSchema, type SchemaStore } from './stores.ts';

const PUSHES = 60;
const CONNECTIONS = 20;

describe.each(['serializable', 'repeatable read'])('where transactions are %s', (isolation) => {
  let opened: SchemaStore;

  afterEach(() => opened.close());

  test('pushes at once are all made, and pulls beside them answered', async () => {
    opened = await openSchema();
    const name = isolation.replace(' ', '\\ ');
    const pool = connectionsTo(inject('postgres'), opened.schema, CONNECTIONS, 'postgres', [
      `-c default_transaction_isolation=${name}`,
    ]);
    const errors: unknown[] = [];
    const handler = createHandler({
      store: storeOn(pool),
      // The rows are read before they are written, as pages do.
      authorize: () => ({ write: () => true }),
      onError: (error) => errors.push(error),
    });
    const each = Array.from({ length: PUSHES }, (_, index) => index);
    await Promise.all(
      each.map(async (index) => {
        const rows = [wire(`own ${index}`, {}), wire('shared', { index })];
        await ask(handler, 'orders', 'push', { rows });
        await ask(handler, 'orders', 'pull', {});
      }),
    );
    expect(errors).toEqual([]);
    const { changes } = await ask(handler, 'orders', 'pull', { limit: 1000 });
    expect(changes).toHaveLength(PUSHES + 1);
    await pool.end();
  });
});
