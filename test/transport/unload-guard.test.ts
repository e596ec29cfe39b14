import { expect, test, vi } from 'vitest';
import { StorageError } from '../../src/errors/errors.ts';
import { type GuardedClient, UnloadGuard } from '../../src/page/unload/unload-guard.ts';
import type { PageLifecycle } from '../../src/platform/platform.ts';
import type { RecoveryRecord, UnloadWriter } from '../../src/protocol/recovery-records.ts';
import type { AcknowledgedChange } from '../../src/protocol/requests.ts';

const change = (number: number, request: object = { op: 'kvSet' }) =>
  ({ number, turn: 1, request: { handle: 1, ...request } }) as unknown as AcknowledgedChange;

const ended = new StorageError('key_wrong', 'The key is another.');

const part = (number: number, call: number, last: boolean) =>
  change(number, { op: 'insertPart', call, last });

/**
 * A guard of a client whose changes are `unsaved`; `seal` as the writer of an encrypted database
 * has it.
 */
function guarded(seal?: (record: RecoveryRecord) => Promise<void>) {
  const changes: AcknowledgedChange[] = [];
  const unsaved = { fitsJournal: true, all: () => changes };
  const client = {
    ...{ client: 'page.1', database: 'a', unsaved, save: vi.fn(async () => undefined) },
    route: { own: true, save: async () => undefined },
    requests: { handles: { all: () => [] }, changes: () => [] },
    ...{ suspend: vi.fn(), resume: vi.fn() },
  } satisfies GuardedClient;
  let leave: (mayReturn: boolean) => void = () => undefined;
  const page: PageLifecycle = {
    isHidden: false,
    onHidden: () => () => undefined,
    onLeft: (listener) => {
      leave = listener;
      return () => undefined;
    },
    onReturned: () => () => undefined,
  };
  const prepare = vi.fn();
  const written: RecoveryRecord[] = [];
  const writer: UnloadWriter = {
    ...{ prepare, journal: () => undefined, store: () => true },
    ...{ forget: () => undefined, close: () => undefined, seal },
    write: (record) => written.push(record) > 0,
  };
  const guard = new UnloadGuard(client, page, writer);
  const secure = (...added: AcknowledgedChange[]) => {
    client.unsaved.all().push(...added);
    return guard.secure(added);
  };
  return { client, secure, prepare, guard, writer, written, leave: () => leave(true) };
}

test('changes that the journal has room for are acknowledged at once where nothing is sealed', () => {
  expect(guarded().secure(change(1), part(2, 1, true))).toBeUndefined();
});

test('sealed changes are acknowledged in their order', async () => {
  const sealed: (() => void)[] = [];
  const acknowledged: number[] = [];
  const { secure } = guarded(() => new Promise((resolve) => void sealed.push(resolve)));
  const outcomes = [1, 2].map((n) => secure(change(n))?.then(() => acknowledged.push(n)));
  sealed[1]?.();
  await new Promise((resolve) => setTimeout(resolve));
  expect(acknowledged).toEqual([]);
  sealed[0]?.();
  await Promise.all(outcomes);
  expect(acknowledged).toEqual([1, 2]);
});

test('a change whose seal fails is acknowledged once it is saved', async () => {
  const { secure, client } = guarded(() => Promise.reject(new Error('no cipher')));
  await secure(change(1));
  expect(client.save).toHaveBeenCalledOnce();
});

test('parts of an insertMany are sealed with the last one, in the order of the batch', async () => {
  const records: RecoveryRecord[] = [];
  const { secure } = guarded(async (record) => void records.push(record));
  const [first, last, before, after] = [
    part(1, 7, false),
    part(3, 7, true),
    change(2),
    change(4, { op: 'delete' }),
  ];
  expect(secure(first)).toBeUndefined();
  await secure(before, last, after);
  expect(records.map(({ changes }) => changes)).toEqual([[first, before, last, after]]);
});

test('what no journal has room for is saved, and not sealed', async () => {
  const seal = vi.fn(async () => undefined);
  const { secure, client } = guarded(seal);
  client.unsaved.fitsJournal = false;
  await secure(change(1));
  expect(client.save).toHaveBeenCalledOnce();
  expect(seal).not.toHaveBeenCalled();
});

test('a client that gives up writes its changes, without calls that were not answered', () => {
  const { client, secure, guard, written } = guarded();
  const [first, begun] = [change(1), part(2, 7, false)];
  secure(first, begun);
  expect(client.unsaved.all()).toEqual([first, begun]);
  guard.giveUp(ended);
  expect(written.map(({ changes }) => changes)).toEqual([[first]]);
});

test('a change that no record has is not acknowledged once its client has given up', async () => {
  const { client, secure, guard, writer } = guarded();
  client.unsaved.fitsJournal = false;
  let fail: (error: Error) => void = () => undefined;
  client.save.mockImplementation(
    () =>
      new Promise((_, reject) => {
        fail = reject;
      }),
  );
  const waiting = secure(change(1));
  await Promise.resolve();
  writer.write = () => false;
  guard.giveUp(ended);
  fail(ended);
  await expect(waiting).rejects.toBe(ended);
  await expect(secure(change(2))).rejects.toBe(ended);
});

test('a change that waits for its save is acknowledged where the record has it', async () => {
  const { client, secure, guard } = guarded();
  client.unsaved.fitsJournal = false;
  client.save.mockRejectedValue(ended);
  const waiting = secure(change(1));
  guard.giveUp(ended);
  await expect(waiting).resolves.toBeUndefined();
});

test('a frozen page opens no connection for a late reply', () => {
  const { secure, prepare, leave } = guarded();
  leave();
  secure(change(1));
  expect(prepare).not.toHaveBeenCalled();
});
