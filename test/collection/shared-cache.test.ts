import { expect, test } from 'vitest';
import { encode } from '../../src/codec/capture.ts';
import { CACHE_SIZE, SharedDocuments } from '../../src/page/sending/shared-documents.ts';
import type { ListPart } from '../../src/protocol/live-protocol.ts';
import { plainSettings } from '../../src/protocol/settings.ts';

const MEGABYTE = 1024 * 1024;

/** News of a live query in a worker: one document. */
const newsOf = (id: string, text: string): ListPart => ({
  ...{ removed: [], indexes: [0], keys: [id], flags: Uint8Array.of(0), stamps: undefined },
  ...{ bodies: [encode({ text }, id)], more: false },
});

test('documents of live queries are shared while they are recent, and do not pile up', () => {
  const documents = new SharedDocuments(plainSettings('things', 'DOCUMENT_BASED'));
  const read = (id: string, text: string) => documents.ofPart(newsOf(id, text), 0);
  const first = read('first', 'x');
  expect(read('first', 'x')).toBe(first);
  for (let n = 0; n <= (2 * CACHE_SIZE) / MEGABYTE; n++) read(`${n}`, 'y'.repeat(MEGABYTE));
  const again = read('first', 'x');
  expect(again).toEqual(first);
  expect(again).not.toBe(first);
});
