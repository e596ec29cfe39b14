import { describe, expect, test } from 'vitest';
import { DocumentExchanges } from '../../src/collection/calls/document-exchanges.ts';
import type { Exchange } from '../../src/collection/calls/exchange.ts';
import { KeyValueExchanges } from '../../src/collection/calls/key-value-exchanges.ts';
import { parseCollectionOptions } from '../../src/collection/options/collection-options.ts';

const settings = parseCollectionOptions({ name: 'notes', type: 'DOCUMENT_BASED' });
const documents = new DocumentExchanges(settings);
const keyValues = new KeyValueExchanges();

function isRisky(exchange: Exchange<unknown>): boolean {
  const { value } = exchange.next() as { value: { kind: string; ask: { mayHang?: true } } };
  expect(value.kind).toBe('ask');
  return value.ask.mayHang === true;
}

const withPattern: readonly (readonly [shows: string, criteria: object])[] = [
  ['a RegExp', { a: /x/ }],
  ['$regex', { a: { $regex: 'x' } }],
  ['$not', { a: { $not: /x/ } }],
  ['$in', { a: { $in: ['x', /x/] } }],
  ['$elemMatch in $or', { $or: [{ b: 1 }, { a: { $elemMatch: { b: /x/ } } }] }],
];

describe.each(withPattern)('with %s', (_, criteria) => {
  test('every call that the engine answers by it is marked', () => {
    expect(isRisky(documents.find(criteria))).toBe(true);
    expect(isRisky(documents.filter(criteria, { where: () => true }))).toBe(true);
    expect(isRisky(documents.count(criteria))).toBe(true);
    expect(isRisky(documents.has(criteria))).toBe(true);
    expect(isRisky(documents.explain(criteria))).toBe(true);
    expect(isRisky(documents.deleteMany(criteria))).toBe(true);
    expect(isRisky(documents.stream(criteria, {}).next())).toBe(true);
    expect(isRisky(keyValues.find('k', criteria))).toBe(true);
    expect(isRisky(keyValues.filter('k', criteria))).toBe(true);
    expect(isRisky(keyValues.remove('k', criteria))).toBe(true);
  });
});

test('a RegExp alone is a pattern for items', () => {
  expect(isRisky(keyValues.has('k', [/x/]))).toBe(true);
});

test('later chunks of a marked scan are marked too', () => {
  const chunk = { keys: [], flags: [], ranks: [], bodies: [], floor: 0, cursor: 0.5 };
  for (const [criteria, mayHang] of [
    [{ a: /x/ }, true],
    [{ a: 'x' }, undefined],
  ] as const) {
    const stream = documents.stream(criteria, {});
    const first = stream.next();
    first.next();
    first.next(chunk);
    expect(stream.next().next().value).toMatchObject({
      ask: { op: 'scanNext', cursor: 0.5, mayHang },
    });
  }
});

test('nothing else is marked, functions included: they run in the page', () => {
  expect(isRisky(documents.find({ a: 'x', b: { $in: [1, new Date()] } }))).toBe(false);
  expect(isRisky(documents.find((document: { a: string }) => /x/.test(document.a)))).toBe(false);
  expect(isRisky(documents.count())).toBe(false);
  expect(isRisky(keyValues.find('k', { a: ['regex', '$regex in a text'] }))).toBe(false);
});
