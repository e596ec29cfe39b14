import { expect, test } from 'vitest';
import { ReplayBuffer } from '../../src/page/connection/replay.ts';
import { JOURNAL_ROOM } from '../../src/page/unload/unload-journal.ts';
import type { Request } from '../../src/protocol/requests.ts';

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

test('a change whose release came before its reply is not kept', () => {
  const { buffer, set } = acknowledging();
  buffer.release(HANDLE, 2, [1]);
  const missed = set(10);
  set(10);
  const later = set(10);
  expect(buffer.all().map(({ number }) => number)).toEqual([missed, later]);
});

test('the parts of an insertMany go with the last, whenever its release comes', () => {
  const part = (call: number, last: boolean): Request => ({
    ...{ op: 'insertPart', handle: HANDLE, call, from: 0, bodies: ['{}'], last },
  });
  const reply = { values: [{ keys: ['a'], now: 1 }], turn: 1 } as never;
  const late = new ReplayBuffer();
  late.note([part(7, false)], [[HANDLE, 1]], reply);
  late.note([part(7, true)], [[HANDLE, 2]], reply);
  late.release(HANDLE, 1, undefined);
  expect(late.size).toBe(2);
  late.release(HANDLE, 2, undefined);
  expect(late.size).toBe(0);
  const early = new ReplayBuffer();
  early.note([part(7, false)], [[HANDLE, 1]], reply);
  early.release(HANDLE, 2, undefined);
  expect(early.size).toBe(1);
  early.note([part(7, true)], [[HANDLE, 2]], reply);
  expect(early.size).toBe(0);
});

test('a commit is released with the last of its collections', () => {
  const numbers: [number, number][] = [
    [HANDLE, 1],
    [HANDLE + 1, 1],
  ];
  const commit = { op: 'commit', handle: 0, changes: [], numbers } as unknown as Request;
  const buffer = new ReplayBuffer();
  buffer.note([commit], numbers, { values: ['committed'], turn: 1 } as never);
  expect(buffer.size).toBe(1);
  buffer.release(HANDLE, 3, undefined);
  expect(buffer.size).toBe(1);
  buffer.release(HANDLE + 1, 1, undefined);
  expect(buffer.size).toBe(0);
});
