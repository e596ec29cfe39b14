import { expect, test, vi } from 'vitest';
import { IndexDeclaration } from '../../src/engine/documents/index-keeper.ts';
import { Database } from '../../src/index.ts';

test('a handle costs what the first ones cost, however many there are', async () => {
  const db = new Database({ name: 'many handles', storage: 'memory' });
  const open = async () => {
    const settled = vi.spyOn(IndexDeclaration.prototype, 'settle');
    const things = new db.Collection({ name: 'things', type: 'DOCUMENT_BASED', indexes: ['n'] });
    await things.count();
    const { length } = settled.mock.calls;
    settled.mockRestore();
    return length;
  };
  await open();
  const few = await open();
  for (let made = 0; made < 200; made++) await open();
  expect(await open()).toBe(few);
  await db.close();
});

test('an index goes when the last handle that declares it has closed, not before', async () => {
  const storage = { name: 'shared declarations', storage: 'memory' } as const;
  const db = new Database(storage);
  const settings = { name: 'things', type: 'DOCUMENT_BASED', indexes: ['n'] } as const;
  const handles = [1, 2, 3].map(() => new db.Collection(settings));
  await Promise.all(handles.map((handle) => handle.ready));
  const plan = await handles[2]?.explain({ n: 1 });
  expect(plan?.plan.kind).toBe('index');
  await db.close();
});
