import { expect, test } from 'vitest';
import { createHandler, memory } from '../../src/server/index.ts';
import { requestedScope } from '../../src/server/scopes.ts';
import { refusal, request, URL_OF } from './requests.ts';

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

test.for<[unknown]>([[{ $ne: 0 }], [{ $gt: '' }], [['ada']], [null], [{}]])(
  'a value that is an operator or none, such as %j, is no scope',
  async ([value]) => {
    const owner = (name: unknown) => ({ owner: name });
    const handler = createHandler({ store: memory(), authorize: () => true, scopes: { owner } });
    const scope = { owner: value };
    const collections = [{ name: 'orders', after: '0.0', scope }];
    for (const [call, body] of Object.entries({
      pull: { after: null, scope },
      stream: { collections },
    })) {
      const asked = request(URL_OF('orders', call), body);
      expect(await refusal(handler, asked)).toEqual([400, 'message_invalid']);
    }
  },
);
