import { expect, test } from 'vitest';
import { DocumentIndexes } from '../../src/engine/documents/document-indexes.ts';
import { Database, memoryDriver } from '../../src/index.ts';
import { indexKeysReader } from '../../src/page/sending/document-slices.ts';
import { plainSettings } from '../../src/protocol/settings.ts';
import type { KeyColumns } from '../../src/query/index/index-key.ts';

const index = (fields: string[], multi = false) => ({
  ...{ name: fields.join(), fields, multi, unique: false },
});
const settings = {
  ...plainSettings('things', 'DOCUMENT_BASED'),
  indexes: [index(['n']), index(['tags'], true), index(['_id'])],
};

/** The keys that the engine gives to two rows. */
function extracted(bodies: string[], given: KeyColumns | undefined, dropped?: string) {
  const indexes = new DocumentIndexes(settings, settings.indexes);
  const slot = indexes.all.find(({ definition }) => definition.name === dropped);
  if (slot) indexes.drop(slot);
  const rows = { keys: ['a', 'b'], stamps: undefined, bodies, indexKeys: [] as unknown[][] };
  indexes.extractRows(rows, 0, given);
  return rows.indexKeys;
}

const documents = [{ n: 1, tags: ['x', 'y'] }, { tags: 'z' }];
const bodies = documents.map((document) => JSON.stringify(document));
const whole = [
  [1, null],
  [['x', 'y'], 'z'],
  ['a', 'b'],
];

test('keys that the client has read are those that the engine reads', () => {
  const given = indexKeysReader(settings)?.(bodies, documents);
  expect(extracted(bodies, undefined)).toEqual(whole);
  expect(extracted(bodies, given)).toEqual(whole);
  // None for an index over managed fields, which the engine makes.
  expect(Object.keys(given ?? {})).toHaveLength(2);
});

test('bodies whose keys are given are not decoded', () => {
  const given = indexKeysReader(settings)?.(bodies, documents);
  expect(extracted(['no JSON', 'no JSON'], given, '_id')).toEqual([
    ...whole.slice(0, 2),
    [undefined, undefined],
  ]);
});

test('keys for another number of documents, or other indexes, count as none', () => {
  const given = indexKeysReader(settings)?.([bodies[0] as string], [{ n: 7, tags: 'other' }]);
  expect(extracted(bodies, given)).toEqual(whole);
  const other = indexKeysReader({ ...settings, indexes: [index(['tags'])] })?.(bodies, documents);
  expect(extracted(bodies, other)).toEqual(whole);
});

test('a caller that changes a Date of what insertMany returns changes no index', async () => {
  const storage = memoryDriver();
  const open = () => {
    const db = new Database({ name: 'dates', storage });
    const indexes = ['at'];
    return { db, items: new db.Collection({ name: 'items', type: 'DOCUMENT_BASED', indexes }) };
  };
  const { db, items } = open();
  const [stored] = await items.insertMany([{ at: new Date(5) }, { at: new Date(6) }]);
  (stored as unknown as { at: Date }).at.setTime(9);
  expect(await items.count({ at: new Date(5) })).toBe(1);
  expect(await items.count({ at: new Date(9) })).toBe(0);
  await db.close();
  const again = open();
  expect(await again.items.count({ at: new Date(5) })).toBe(1);
  await again.db.close();
});
