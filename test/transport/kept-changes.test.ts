import { beforeEach, describe, expect, test } from 'vitest';
import { OpenHandles, ReplayBuffer } from '../../src/page/connection/replay.ts';
import type { BatchReply, Request } from '../../src/protocol/requests.ts';

let kept: ReplayBuffer;
let numbers: OpenHandles;
let turns = 0;

beforeEach(() => {
  kept = new ReplayBuffer();
  numbers = new OpenHandles();
  turns = 0;
});

const HANDLE = 1;
const OTHER = 2;

/** Notes an answered batch: requests, each with its answer or an error. */
function note(...answered: (readonly [Request, unknown])[]): void {
  const batch = answered.map(([request]) => request);
  const failures = new Map(
    answered.flatMap(([, answer], place) => (answer instanceof Error ? [[place, answer]] : [])),
  );
  const reply: BatchReply = {
    values: answered.map(([, answer]) => (answer instanceof Error ? undefined : answer)),
    failures: failures.size > 0 ? failures : undefined,
    turn: ++turns,
  };
  kept.note(batch, numbers.number(batch), reply);
}

const set = (key: string, handle = HANDLE): Request => ({ op: 'kvSet', handle, key, body: '1' });
const held = () =>
  kept
    .all()
    .map(
      ({ number, request }) =>
        `${request.handle}:${number} ${'key' in request ? request.key : request.op}`,
    );
const failed = new Error('It failed.');

describe('the replay buffer', () => {
  test('has acknowledged changes with their numbers and turns', () => {
    note([set('a'), undefined], [{ op: 'kvGet', handle: HANDLE, key: 'a' }, undefined]);
    note([set('b', OTHER), undefined], [set('c'), undefined]);
    expect(kept.all()).toEqual([
      { number: 1, turn: 1, request: set('a') },
      { number: 1, turn: 2, request: set('b', OTHER) },
      { number: 2, turn: 2, request: set('c') },
    ]);
    expect(kept.size).toBe(3);
  });

  test('leaves out failed calls and calls without effect', () => {
    const ofId = { handle: HANDLE, id: 'x' };
    note(
      [set('a'), failed],
      [{ op: 'update', ...ofId, body: '{}' }, undefined],
      [{ op: 'patch', ...ofId, changes: '{}' }, undefined],
      [
        { op: 'patchMany', handle: HANDLE, changes: '{}' },
        { count: 0, now: 5 },
      ],
      [{ op: 'replaceIf', ...ofId, body: '{}', version: 3 }, false],
      [{ op: 'archive', ...ofId }, false],
      [{ op: 'unarchive', ...ofId }, false],
      [{ op: 'delete', ...ofId }, false],
      [{ op: 'deleteMany', handle: HANDLE }, 0],
      [{ op: 'kvDelete', handle: HANDLE, key: 'k' }, false],
      [{ op: 'kvReplace', handle: HANDLE, key: 'k', body: '1', version: 3 }, false],
      [{ op: 'count', handle: HANDLE }, 7],
    );
    expect(kept.all()).toEqual([]);
    expect(kept.size).toBe(0);
    // These calls used up numbers nevertheless.
    note([set('b'), undefined]);
    expect(held()).toEqual(['1:12 b']);
  });

  test('has changes whose answer was lost, until they are released', () => {
    note([set('a'), Object.assign(new Error(), { code: 'answer_lost' })]);
    expect(held()).toEqual(['1:1 a']);
    kept.release(HANDLE, 1, undefined);
    expect(held()).toEqual([]);
  });
});

describe('a change is replayed', () => {
  const requestOf = (request: Request, answer: unknown) => {
    note([request, answer]);
    return kept.all()[0]?.request;
  };
  const stamps = [1000, 2000, 0, 0] as const;

  test('with its acknowledged id', () => {
    const insert: Request = { op: 'insert', handle: HANDLE, body: '{}' };
    expect(requestOf(insert, ['new id', 0])).toEqual({ ...insert, id: 'new id', now: undefined });
  });

  test.each<[Request, unknown]>([
    [{ op: 'insert', handle: HANDLE, id: 'x', body: '{}' }, ['x', 0, stamps]],
    [{ op: 'upsert', handle: HANDLE, id: 'x', body: '{}' }, ['x', 0, stamps]],
    [{ op: 'update', handle: HANDLE, id: 'x', body: '{}' }, ['x', 0, stamps]],
    [
      { op: 'patch', handle: HANDLE, id: 'x', changes: '{}' },
      { record: ['x', 0, stamps, '{}'], now: 2000 },
    ],
    // Without stamps, too: `$currentDate` needs the time.
    [
      { op: 'patch', handle: HANDLE, id: 'x', changes: '{}' },
      { record: ['x', 0, undefined, '{}'], now: 2000 },
    ],
    [
      { op: 'patchMany', handle: HANDLE, changes: '{}' },
      { count: 3, now: 2000 },
    ],
    [
      { op: 'patchMany', handle: HANDLE, ids: ['x'], changes: '{}' },
      { count: 1, now: 2000 },
    ],
    [{ op: 'archive', handle: HANDLE, id: 'x' }, 2000],
    [{ op: 'unarchive', handle: HANDLE, id: 'x' }, 2000],
  ])('with its acknowledged time: %o', (request, answer) => {
    expect(requestOf(request, answer)).toEqual({ ...request, now: 2000 });
  });

  test('with its acknowledged time, although the clock was set back', () => {
    const update: Request = { op: 'update', handle: HANDLE, id: 'x', body: '{}' };
    expect(requestOf(update, ['x', 0, [9000, 2000, 8000, 0]])).toEqual({ ...update, now: 2000 });
  });

  test('as parts with all their ids and times', () => {
    const part: Request = {
      op: 'insertPart',
      handle: HANDLE,
      call: 1,
      from: 0,
      bodies: ['{}'],
      last: true,
    };
    const stamps = [[1000, 0, 0, 0]];
    const answer = { keys: ['a'], flags: new Uint8Array(1), stamps, now: 1000 };
    expect(requestOf(part, answer)).toEqual({ ...part, ids: ['a'], now: 1000 });
  });

  test('as the last part of an upsertMany, with its own ids and the time of the call', () => {
    const part: Request = {
      ...{ op: 'insertPart', handle: HANDLE, call: 1, upsert: true },
      ...{ from: 2, bodies: ['{}', '{}'], last: true },
    };
    // The reply covers all parts; what it replaced has stamps of its own.
    const answer = {
      keys: ['a', 'b', 'c', 'd'],
      flags: new Uint8Array([1, 0, 0, 1]),
      stamps: [[500, 0, 0, 0], undefined, undefined, undefined],
      now: 1000,
    };
    expect(requestOf(part, answer)).toEqual({ ...part, ids: ['c', 'd'], now: 1000 });
  });

  test('with the time that it was told, though no stamp has it', () => {
    const part: Request = {
      ...{ op: 'insertPart', handle: HANDLE, call: 1 },
      ...{ from: 0, bodies: ['{}'], last: false },
    };
    const answer = { keys: ['a'], flags: new Uint8Array(1), stamps: undefined, now: 1000 };
    expect(requestOf(part, answer)).toEqual({ ...part, ids: ['a'], now: 1000 });
  });

  const replaceIf = { op: 'replaceIf', handle: HANDLE, id: 'x', body: '{}', version: 3 } as const;
  const kvReplace = { op: 'kvReplace', handle: HANDLE, key: 'k', body: '2', version: 3 } as const;
  const update = { op: 'update', handle: HANDLE, id: 'x', body: '{}' };
  const kvSet = { op: 'kvSet', handle: HANDLE, key: 'k', body: '2' };

  test('without the version that only the engine before knew', () => {
    expect(requestOf(replaceIf, ['x', 1, stamps])).toEqual({ ...update, now: 2000 });
    kept = new ReplayBuffer();
    expect(requestOf(kvReplace, true)).toEqual(kvSet);
  });

  test('without that version, though its answer was lost', () => {
    const lost = Object.assign(new Error(), { code: 'answer_lost' });
    expect(requestOf(replaceIf, lost)).toEqual(update);
    kept = new ReplayBuffer();
    expect(requestOf(kvReplace, lost)).toEqual(kvSet);
  });

  test.each<[Request, unknown]>([
    [{ op: 'kvPush', handle: HANDLE, key: 'k', body: '1' }, '[1]'],
    [{ op: 'kvAdd', handle: HANDLE, key: 'k', amount: 2 }, 2],
    [{ op: 'kvRemove', handle: HANDLE, key: 'k', criteria: '{}' }, '[]'],
    [{ op: 'kvDelete', handle: HANDLE, key: 'k' }, true],
    [{ op: 'delete', handle: HANDLE, id: 'x' }, true],
    [{ op: 'deleteMany', handle: HANDLE, criteria: {} }, 4],
  ])('unchanged: %o', (request, answer) => {
    expect(requestOf(request, answer)).toEqual(request);
  });
});

describe('a release', () => {
  beforeEach(() => {
    for (const key of ['a', 'b', 'c', 'd']) note([set(key), undefined]);
    note([set('other', OTHER), undefined]);
  });

  test('removes the changes of its handle up to its number', () => {
    kept.release(HANDLE, 2, undefined);
    expect(held()).toEqual(['1:3 c', '1:4 d', '2:1 other']);
    kept.release(HANDLE, 1, undefined);
    kept.release(7, 9, undefined);
    expect(kept.size).toBe(3);
    kept.release(HANDLE, 4, undefined);
    kept.release(OTHER, 1, undefined);
    expect(kept.size).toBe(0);
  });

  test('keeps changes listed as gaps', () => {
    kept.release(HANDLE, 4, [2, 3]);
    expect(held()).toEqual(['1:2 b', '1:3 c', '2:1 other']);
  });

  test('is not needed for changes that can never be applied: drop() removes them', () => {
    const [first, , third] = kept.all();
    kept.drop(new Set([first, third].flatMap((change) => change ?? [])));
    expect(held()).toEqual(['1:2 b', '1:4 d', '2:1 other']);
  });
});

describe('the parts of an insertMany', () => {
  const part = (call: number, last = false): Request => {
    return { op: 'insertPart', handle: HANDLE, call, from: 0, ids: ['x'], bodies: ['{}'], last };
  };
  const answer = { keys: ['x'], flags: new Uint8Array(1), stamps: undefined };

  test('stay until the last one is released', () => {
    note([part(1), answer], [set('between'), undefined], [part(2), answer]);
    kept.release(HANDLE, 3, undefined);
    expect(held()).toEqual(['1:1 insertPart', '1:3 insertPart']);
    note([part(1, true), answer]);
    expect(kept.size).toBe(3);
    kept.release(HANDLE, 4, undefined);
    expect(held()).toEqual(['1:3 insertPart']);
    note([part(2, true), answer]);
    kept.release(HANDLE, 5, [5]);
    expect(held()).toEqual(['1:3 insertPart', '1:5 insertPart']);
    kept.release(HANDLE, 5, undefined);
    expect(kept.size).toBe(0);
  });

  test('are removed together if one fails or the call is abandoned', () => {
    note([part(1), answer], [part(2), answer], [part(3), answer]);
    note([part(1), failed]);
    note([{ op: 'insertAbandon', handle: HANDLE, call: 2 }, undefined]);
    expect(held()).toEqual(['1:3 insertPart']);
  });
});
