import { describe, expect, test } from 'vitest';
import { checkFound, Model } from '../../bench/page/model.mjs';

const people = () => [...new Model(400, 1).documents.values()];

describe('what a database answers in a benchmark', () => {
  test('the same documents pass, in any order and with fields of its own', () => {
    const found = people().map((person) => ({ ...person, _rev: '1-abc' }));
    expect(() => checkFound('all', found.reverse(), people())).not.toThrow();
  });

  test('a key may have the name that the database gives it', () => {
    const found = people().map(({ id, ...rest }) => ({ _id: id, ...rest }));
    expect(() => checkFound('all', found, people())).not.toThrow();
  });

  test('a document that is missing is noticed', () => {
    expect(() => checkFound('all', people().slice(1), people())).toThrow('399 documents');
  });

  test('a document that comes twice is noticed', () => {
    const [first, , ...others] = people();
    expect(() => checkFound('all', [first, first, ...others], people())).toThrow('not expected');
  });

  test('a field that differs deep inside is noticed', () => {
    const [first, ...others] = people();
    const damaged = { ...first, address: { ...first?.address, zip: '0' } };
    expect(() => checkFound('all', [damaged, ...others], people())).toThrow('has address');
  });

  test('another order is noticed where there is one', () => {
    const model = new Model(400, 1);
    const first = model.firstByScore(20);
    expect(() => checkFound('sorted', first, first, { ordered: true })).not.toThrow();
    expect(() => checkFound('sorted', first.toReversed(), first, { ordered: true })).toThrow(
      'not expected',
    );
  });
});

describe('the model', () => {
  test('is the same for the same seed, and another for another', () => {
    expect(people()).toEqual(people());
    expect([...new Model(400, 2).documents.keys()]).not.toEqual(people().map(({ id }) => id));
  });

  test('follows what was changed', () => {
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
