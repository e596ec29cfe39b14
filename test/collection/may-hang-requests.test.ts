import { describe, expect, test } from 'vitest';
import { parseCollectionOptions } from '../../src/api/options/collection-options.ts';
import { DocumentCalls } from '../../src/page/calls/document-calls.ts';
import { KeyValueCalls } from '../../src/page/calls/key-value-calls.ts';
import { CallOrder } from '../../src/page/connection/call-order.ts';
import type { HandleRequest, Sender } from '../../src/page/sending/sender.ts';

const settings = parseCollectionOptions({ name: 'notes', type: 'DOCUMENT_BASED' });
const documents = new DocumentCalls(settings, new CallOrder());
const keyValues = new KeyValueCalls({ type: 'KEY_VALUE_BASED' }, new CallOrder());

/** A sender that never answers, and the requests sent with it. */
function silentSender() {
  const sent: HandleRequest[] = [];
  const sender: Sender = {
    started: undefined,
    isSync: false,
    send: (request) => {
      sent.push(request as HandleRequest);
      return new Promise(() => undefined);
    },
    pause: () => undefined,
  };
  return { sender, sent };
}

/** Whether the first request of a call is marked mayHang. */
function mayHang(call: (sender: Sender) => unknown): boolean {
  const { sender, sent } = silentSender();
  (call(sender) as Generator).next();
  expect(sent).toHaveLength(1);
  return sent[0]?.mayHang === true;
}

const withPattern: readonly (readonly [shows: string, criteria: object])[] = [
  ['a RegExp', { a: /x/ }],
  ['$regex', { a: { $regex: 'x' } }],
  ['$not', { a: { $not: /x/ } }],
  ['$in', { a: { $in: ['x', /x/] } }],
  ['$regexMatch', { $expr: { $regexMatch: { input: '$a', regex: '(x+)+' } } }],
  ['$regexFindAll', { $expr: { $size: { $regexFindAll: { input: '$a', regex: '(x+)+' } } } }],
  ['$elemMatch in $or', { $or: [{ b: 1 }, { a: { $elemMatch: { b: /x/ } } }] }],
];

const withPrefix: readonly (readonly [shows: string, criteria: object])[] = [
  ['a RegExp', { a: /^x y/ }],
  ['escaped signs', { a: /^x\.\*\|/i }],
  ['$regex', { a: { $regex: '^x', $options: 'i' } }],
  ['a field of that name', { regex: '(x+)+' }],
  ['$and', { $and: [{ a: { $regex: /^x/ } }, { a: { $in: ['x', /^y/] } }] }],
];

test.each(withPrefix)('a literal prefix, as %s, cannot hang', (_, criteria) => {
  expect(mayHang((sender) => documents.filter(sender, criteria))).toBe(false);
  expect(mayHang((sender) => documents.stream(criteria, {}).read(sender))).toBe(false);
});

test.each([/^(x+)+$/, /^x*y/, /^x|y/, /^x.y/, /^[x]/, /^x\d/, /^x{2}/, /x/, /^x$/])(
  '%s is marked mayHang',
  (pattern) => {
    expect(mayHang((sender) => documents.filter(sender, { a: pattern }))).toBe(true);
    const { source } = pattern;
    expect(mayHang((sender) => documents.filter(sender, { a: { $regex: source } }))).toBe(true);
  },
);

describe.each(withPattern)('with %s', (_, criteria) => {
  test('every call that the engine evaluates is marked mayHang', () => {
    expect(mayHang((sender) => documents.find(sender, criteria))).toBe(true);
    expect(mayHang((sender) => documents.filter(sender, criteria, { where: () => true }))).toBe(
      true,
    );
    expect(mayHang((sender) => documents.count(sender, criteria))).toBe(true);
    expect(mayHang((sender) => documents.has(sender, criteria))).toBe(true);
    expect(mayHang((sender) => documents.explain(sender, criteria))).toBe(true);
    expect(mayHang((sender) => documents.deleteMany(sender, criteria))).toBe(true);
    expect(mayHang((sender) => documents.stream(criteria, {}).read(sender))).toBe(true);
    expect(mayHang((sender) => keyValues.find(sender, 'k', criteria))).toBe(true);
    expect(mayHang((sender) => keyValues.filter(sender, 'k', criteria))).toBe(true);
    expect(mayHang((sender) => keyValues.remove(sender, 'k', criteria))).toBe(true);
  });
});

test('a bare RegExp for items is marked mayHang', () => {
  expect(mayHang((sender) => keyValues.has(sender, 'k', [/x/]))).toBe(true);
});

test('later chunks of a marked scan are marked mayHang, too', () => {
  const chunk = { keys: [], flags: [], ranks: [], bodies: [], floor: 0, cursor: 0.5 };
  for (const [criteria, isMarked] of [
    [{ a: /x/ }, true],
    [{ a: 'x' }, undefined],
  ] as const) {
    const sent: HandleRequest[] = [];
    const sender: Sender = {
      started: undefined,
      isSync: false,
      send: (request) => {
        sent.push(request as HandleRequest);
        return chunk as never;
      },
      pause: () => undefined,
    };
    const stream = documents.stream(criteria, {});
    stream.read(sender).next();
    stream.read(sender).next();
    expect(sent[1]).toMatchObject({ op: 'scanNext', cursor: 0.5, mayHang: isMarked });
  }
});

test('a patchOne under a schema is marked where its document is computed', () => {
  const validated = new DocumentCalls(settings, new CallOrder());
  validated.schema = {} as never;
  const found = { keys: ['x'], flags: [0], ranks: [1], bodies: ['{}'], sorted: true, floor: 0 };
  const sent: HandleRequest[] = [];
  const sender: Sender = {
    started: undefined,
    isSync: false,
    send: (request) => {
      sent.push(request as HandleRequest);
      return (request.op === 'scan' ? found : new Promise(() => undefined)) as never;
    },
    pause: () => undefined,
  };
  validated.patchOne(sender, {}, { $pull: { tags: /(x+)+/ } }).next();
  expect(sent.map(({ op, mayHang }) => [op, mayHang])).toEqual([
    ['scan', undefined],
    ['getVersion', true],
  ]);
});

test('other calls are not marked, nor are functions, which run in the page', () => {
  expect(mayHang((sender) => documents.find(sender, { a: 'x', b: { $in: [1, new Date()] } }))).toBe(
    false,
  );
  expect(
    mayHang((sender) => documents.find(sender, (document: { a: string }) => /x/.test(document.a))),
  ).toBe(false);
  expect(mayHang((sender) => documents.count(sender))).toBe(false);
  expect(
    mayHang((sender) => keyValues.find(sender, 'k', { a: ['regex', '$regex in a text'] })),
  ).toBe(false);
});
