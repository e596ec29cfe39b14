import { expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from './engine-client.ts';

interface Note {
  tags: string[];
  n: number;
}

const options = {
  name: 'notes',
  type: 'DOCUMENT_BASED',
  indexes: [{ fields: ['tags'], multi: true }],
} as const;

test.each([true, false])(
  'a document without items is replaced repeatedly after an opening, caching: %s',
  async (caching) => {
    const driver = memoryDriver();
    const first = openClient(driver);
    const before = new first.client.Collection<Note>({ ...options, caching });
    await before.insert({ _id: 'a', tags: [], n: 0 });
    await first.client.close();
    const { client } = openClient(driver);
    const notes = new client.Collection<Note>({ ...options, caching });
    for (const [n, tags] of [[], ['old'], [], ['new']].entries())
      await notes.update('a', { tags, n });
    expect(await notes.filter({ tags: 'new' })).toMatchObject([{ _id: 'a', n: 3 }]);
    await client.close();
  },
);
