import { expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from './engine-client.ts';

test.each([true, false])(
  'counts from an index tell archived documents apart, after changes and reloads, caching %s',
  async (caching) => {
    const memory = memoryDriver();
    const open = () => {
      const { client } = openClient(memory);
      const options = { name: 'things', type: 'DOCUMENT_BASED', caching } as const;
      return { client, things: new client.Collection({ ...options, indexes: ['half'] }) };
    };
    let { client, things } = open();
    const counts = () =>
      Promise.all(
        ([false, true, 'only'] as const).map(async (archived) =>
          Promise.all(
            [{ half: 1 }, { half: { $gte: 0 } }, {}].map((criteria) =>
              things.count(criteria, { archived }),
            ),
          ),
        ),
      );
    await things.insertMany(
      Array.from({ length: 40 }, (_, at) => ({ _id: `t${at}`, half: at % 2 })),
    );
    const all = [20, 40, 40];
    const none = [0, 0, 0];
    expect(await counts()).toEqual([all, all, none]);
    await things.archive('t1');
    const oneGone = [[19, 39, 39], all, [1, 1, 1]];
    expect(await counts()).toEqual(oneGone);
    await client.close();
    ({ client, things } = open());
    expect(await counts()).toEqual(oneGone);
    await things.unarchive('t1');
    expect(await counts()).toEqual([all, all, none]);
    await things.delete('t1');
    expect(await counts()).toEqual([[19, 39, 39], [19, 39, 39], none]);
    expect(await things.count({ half: 1 }, { skip: 5, limit: 10 })).toBe(10);
    expect(await things.count({ half: 1 }, { skip: 15, limit: 10 })).toBe(4);
    expect(await things.count({ half: 1 }, { skip: 30 })).toBe(0);
    await client.close();
  },
);
