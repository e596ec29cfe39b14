import { expect, test } from 'vitest';
import type { Request } from '../../src/engine/protocol/requests.ts';
import { ReplayBuffer } from '../../src/transport/channel/replay-buffer.ts';
import { JOURNAL_ROOM } from '../../src/transport/unload/journal-size.ts';

const HANDLE = 1;

/** A buffer, and a function that acknowledges a set of a value of that many characters. */
function acknowledging() {
  const buffer = new ReplayBuffer();
  let number = 0;
  const set = (characters: number): number => {
    const request: Request = {
      ...{ op: 'kvSet', handle: HANDLE, key: 'key', body: JSON.stringify('x'.repeat(characters)) },
    };
    buffer.note([request], [[HANDLE, ++number]], { values: [undefined], turn: number } as never);
    return number;
  };
  return { buffer, set };
}

test('the changes fit into a journal until they exceed its room, and again after a release', () => {
  const { buffer, set } = acknowledging();
  expect(buffer.fitsJournal).toBe(true);
  const large = set(JOURNAL_ROOM);
  expect(buffer.fitsJournal).toBe(false);
  set(10);
  expect(buffer.fitsJournal).toBe(false);
  buffer.release(HANDLE, large, undefined);
  expect(buffer.fitsJournal).toBe(true);
});

test('small changes exceed the room together', () => {
  const { buffer, set } = acknowledging();
  const quarter = JOURNAL_ROOM / 8; // two characters each in the journal
  for (let made = 0; made < 3; made++) {
    set(quarter);
    expect(buffer.fitsJournal).toBe(true);
  }
  set(quarter);
  expect(buffer.fitsJournal).toBe(false);
});
