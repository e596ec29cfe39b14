import { expect, test } from 'vitest';
import { Database } from '../../src/index.ts';

test('the error of a rejected call has the caller in its stack', async () => {
  const db = new Database({ name: `frames ${Math.random()}`, storage: 'memory' });
  const things = new db.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' });
  await things.insert({ _id: 'a', n: 1 });
  async function registersTwice(): Promise<unknown> {
    return await things.insert({ _id: 'a', n: 2 });
  }
  const error = await registersTwice().catch((cause: Error) => cause);
  expect(error).toMatchObject({ code: 'id_taken' });
  expect((error as Error).stack).toContain('registersTwice');
  await db.close();
});
