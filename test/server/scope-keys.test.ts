import { expect, test } from 'vitest';
import { requestedScope } from '../../src/server/scopes.ts';

const keyOf = async (criteria: object) => {
  const request = new Request('https://server/pull');
  const { key } = await requestedScope({ all: true }, request, { all: () => criteria }, () => {});
  return key;
};

test('criteria that differ in the kind of a value are another scope', async () => {
  const date = new Date('2026-01-01');
  const values = [date, date.toISOString(), 1, 1n, '1', null, Number.NaN, /a/, /a/i];
  const keys = await Promise.all(values.map((value) => keyOf({ at: { $in: [value] } })));
  expect(new Set(keys).size).toBe(values.length);
  expect(await keyOf({ at: { $in: [new Date(date)] } })).toBe(keys[0]);
});
