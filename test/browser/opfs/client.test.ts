import { expect, test } from 'vitest';
import { connect } from '../../../src/index.ts';
import { hasFiles } from './has-files.ts';

let names = 0;
const newName = () => `opfs client ${++names} ${Math.random()}`;

test('documents of every kind come back, from IndexedDB where there are no files', async () => {
  const files = await hasFiles();
  const name = newName();
  const document = {
    _id: 'ada',
    born: new Date(5),
    photo: new Blob(['abc'], { type: 'text/plain' }),
    tags: new Map([['a', new Set([1n])]]),
    bytes: new Uint8Array([1, 2, 3]),
  };
  const first = connect({ name, storage: 'opfs' });
  const people = new first.Collection({ name: 'people', type: 'DOCUMENT_BASED' });
  await people.insert(document);
  await people.insert({ _id: 'plain', text: 'é'.repeat(10) });
  expect(first.status.storage).toBe(files ? 'opfs' : 'indexeddb');
  expect(first.status.storage_reason === undefined).toBe(files);
  await first.close();

  const second = connect({ name, storage: 'opfs' });
  const again = new second.Collection({ name: 'people', type: 'DOCUMENT_BASED' });
  const found = await again.get('ada');
  expect(found).toMatchObject({ born: new Date(5), tags: document.tags, bytes: document.bytes });
  const photo = found?.photo as Blob;
  expect(await photo.text()).toBe('abc');
  expect((await again.get('plain'))?.text).toBe('é'.repeat(10));
  expect(await again.count({})).toBe(2);
  await second.close();
});
