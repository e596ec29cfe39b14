import { expect, test } from 'vitest';
import { memory } from '../../src/server/index.ts';
import { row, storeContract, versionOf } from './store-contract.ts';

const store = memory();
storeContract('memory()', () => store);

test('a copy has the documents and another history', async () => {
  const original = memory();
  const [result] = await original.push('orders', [row('a', 1)]);
  const { checkpoint } = await original.pull('orders', undefined, 10);
  const copy = original.copy();
  await original.push('orders', [row('a', 2, { base: versionOf(result) })]);
  const page = await copy.pull('orders', checkpoint, 10);
  expect(page).toMatchObject({ reset: true, changes: [{ document: { value: 1 } }] });
});

test('a document in the store is not the object of the caller', async () => {
  const document = { _id: 'a', list: [1] };
  await store.push('own', [{ id: 'a', key: 'k', document }]);
  document.list.push(2);
  const { changes } = await store.pull('own', undefined, 1);
  const { list } = changes[0]!.document!;
  (list as number[]).push(3);
  expect((await store.pull('own', undefined, 1)).changes[0]?.document?.list).toEqual([1]);
});
