import { afterEach, expect, test } from 'vitest';
import { decode, encodeAndCopy } from '../../src/codec/capture.ts';

const added = { text: 'a', number: Number.NaN, object: { deep: true }, method: () => undefined };

afterEach(() => {
  for (const name of Object.keys(added)) Reflect.deleteProperty(Object.prototype, name);
});

test('what another script adds to Object.prototype is no part of a document', () => {
  Object.assign(Object.prototype, added);
  const document = { name: 'Ada', address: { city: 'Oslo' } };
  const { body, copy } = encodeAndCopy(document, 'document');
  for (const seen of [copy, decode(body)] as (typeof document)[]) {
    expect(Object.keys(seen)).toEqual(['name', 'address']);
    expect(Object.keys(seen.address)).toEqual(['city']);
  }
});

test('an own field of that name is', () => {
  Object.assign(Object.prototype, added);
  const { body } = encodeAndCopy({ method: { name: 'get' }, object: null }, 'document');
  expect(decode(body)).toStrictEqual({ method: { name: 'get' }, object: null });
});
