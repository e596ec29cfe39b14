import { describe, expect, test } from 'vitest';
import { type TestDatabase, testBrowser } from '../../src/testing/index.ts';

const ORDERS = { name: 'orders', type: 'DOCUMENT_BASED', activate_drop_method: true } as const;
const UNSAVED = { save_timeout: 3600, save_directly_after: 100_000 };

type Orders = ReturnType<typeof ordersOf>;
const ordersOf = (tab: TestDatabase, more: object = {}) =>
  new tab.Collection<{ n?: number }>({ ...ORDERS, ...more });

const ENDS = {
  renamed: (tab: TestDatabase) => tab.renameCollection('orders', 'sales'),
  dropped: (_tab: TestDatabase, orders: Orders) => orders.Drop(),
};

describe.each(Object.keys(ENDS) as (keyof typeof ENDS)[])('a collection that was %s', (end) => {
  test.each([true, false])(
    'is not made anew by a tab that has called nothing since, and leads later: it has changes %s',
    async (hasChanges) => {
      const browser = testBrowser();
      const [first, second] = [browser.openTab(), browser.openTab()];
      const orders = ordersOf(first);
      await orders.insert({ _id: '1' });
      const others = ordersOf(second, UNSAVED);
      if (hasChanges) await others.insert({ _id: '2' });
      else expect(await others.count()).toBe(1);
      await ENDS[end](first, orders);
      await first.close();
      await expect(others.insert({ _id: '3' })).rejects.toMatchObject({
        code: 'collection_dropped',
      });
      const found = (await second.collections()).map(({ name, documents }) => [name, documents]);
      expect(found).toEqual(end === 'renamed' ? [['sales', hasChanges ? 2 : 1]] : []);
      // A new one is the caller's choice.
      await ordersOf(second).insert({ _id: '4' });
      expect(await ordersOf(second).count()).toBe(1);
    },
  );

  test('and made anew keeps what is acknowledged over a failover', async () => {
    const browser = testBrowser();
    const [first, second] = [browser.openTab(), browser.openTab()];
    const orders = ordersOf(first);
    await orders.insert({ _id: '1' });
    const others = ordersOf(second);
    expect(await others.count()).toBe(1);
    const ending = ENDS[end](first, orders);
    await ending;
    const again = ordersOf(second, UNSAVED);
    await again.insert({ _id: '2' });
    await first.close();
    expect((await again.filter({})).map(({ _id }) => _id)).toEqual(['2']);
    await expect(others.count()).rejects.toMatchObject({ code: 'collection_dropped' });
  });
});
