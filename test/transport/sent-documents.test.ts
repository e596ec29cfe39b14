import { expect, test } from 'vitest';
import { SentDocuments } from '../../src/engine/host/session-api.ts';
import type { SentVersions } from '../../src/protocol/requests.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';

const record = new StoredRecord('a', 1, 0, undefined, '{}');

/** A read of the record, which confirms replies. */
function read(sent: SentDocuments, received: number[]): SentVersions {
  const request = { op: 'getShared', handle: 1, ids: ['a'], shared: { cache: 1, received } };
  return sent.reply(request as never, { records: [record], bodies: ['{}'] }) as SentVersions;
}

test('a reply of an earlier engine confirms none of the next one', () => {
  const { reply } = read(new SentDocuments(), []);
  const next = new SentDocuments();
  // Its reply was lost, the call that gets it was aborted.
  read(next, []);
  expect(read(next, [reply]).bodies).toEqual(['{}']);
});

test('a confirmed document is left out', () => {
  const sent = new SentDocuments();
  const { reply } = read(sent, []);
  expect(read(sent, [reply]).bodies).toEqual([]);
});
