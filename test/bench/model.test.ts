import { describe, expect, test } from 'vitest';
import { checkFound, Model } from '../../bench/page/model.mjs';

const people = () => [...new Model(400, 1).documents.values()];

describe('the answer of a database in a benchmark', () => {
  test('passes with the same documents, in any order and with additional fields', () => {
    const found = people().map((person) => ({ ...person, _rev: '1-abc' }));
    expect(() => checkFound('all', found.reverse(), people())).not.toThrow();
  });

  test('passes with the key under the name of the database', () => {
    const found = people().map(({ id, ...rest }) => ({ _id: id, ...rest }));
    expect(() => checkFound('all', found, people())).not.toThrow();
  });

  test('fails if a document is missing', () => {
    expect(() => checkFound('all', people().slice(1), people())).toThrow('399 documents');
  });

  test('fails if a document is duplicated', () => {
    const [first, , ...others] = people();
    expect(() => checkFound('all', [first, first, ...others], people())).toThrow('not expected');
  });

  test('fails if a nested field differs', () => {
    const [first, ...others] = people();
    const damaged = { ...first, address: { ...first?.address, zip: '0' } };
    expect(() => checkFound('all', [damaged, ...others], people())).toThrow('has address');
  });

  test('fails if the order differs and matters', () => {
    const model = new Model(400, 1);
    const first = model.firstByScore(20);
    expect(() => checkFound('sorted', first, first, { ordered: true })).not.toThrow();
    expect(() => checkFound('sorted', first.toReversed(), first, { ordered: true })).toThrow(
      'not expected',
    );
  });
});

describe('the model', () => {
  test('is determined by its seed', () => {
    expect(people()).toEqual(people());
    expect([...new Model(400, 2).documents.keys()]).not.toEqual(people().map(({ id }) => id));
  });

  test('follows changes', () => {
    const [gone, aged] = people().map(({ id }) => id);
    const model = new Model(400, 1, [
      { inserted: { part: 12, made: 100, count: 7 } },
      { aged: { ids: [String(aged)], age: 200 } },
      { deleted: [String(gone)] },
    ]);
    expect(model.documents.size).toBe(406);
    expect(model.documents.get(String(aged))?.age).toBe(200);
    expect(model.documents.has(String(gone))).toBe(false);
  });
});
