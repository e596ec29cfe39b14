import { expect, test } from 'vitest';
import * as cairn from '../../src/index.ts';
import { fromWire, toWire } from '../../src/protocol/wire-error.ts';
import { MessageWorker } from './message-worker.ts';

const cross = (error: unknown): Error => fromWire(structuredClone(toWire(error)));

test.each([
  new cairn.BackupError('file_damaged', 'damaged', { place: 'line 7' }),
  new cairn.StorageError('storage_full', 'full', { place: 'notes' }),
  new cairn.ValueError('id_taken', 'taken', { place: '_id' }),
  new cairn.KeyError('kind_mismatch', 'mismatch', { place: 'a.b' }),
  new cairn.CollectionError('closed', 'closed'),
  new cairn.CriteriaError('operator_unknown', 'unknown', { place: 'params.$x' }),
  new cairn.OptionError('option_invalid', 'invalid', { place: 'name' }),
  new cairn.TransactionError('transaction_conflict', 'conflict', { place: 'notes' }),
  new cairn.WorkerError('worker_lost', 'lost'),
  new cairn.CairnError('unexpected', 'unexpected'),
])('$name crosses with class, code, message, place and stack', (error) => {
  const crossed = cross(error) as cairn.CairnError;
  expect(crossed.constructor).toBe(error.constructor);
  expect(crossed).toBeInstanceOf(cairn.CairnError);
  const { name, code, message, place, stack } = error;
  expect(crossed).toMatchObject({ name, code, message, stack });
  expect(crossed.place).toBe(place);
  expect('cause' in crossed).toBe('cause' in error);
});

test('every error class crosses', () => {
  for (const [name, Class] of Object.entries(cairn)) {
    if (!name.endsWith('Error')) continue;
    const error = new (Class as typeof cairn.CairnError)('code', 'message');
    expect(cross(error)).toBeInstanceOf(Class);
  }
});

test('causes cross, with their own causes', () => {
  const quota = new DOMException('The disk is full.', 'QuotaExceededError');
  const inner = new cairn.StorageError('storage_full', 'inner', { cause: quota });
  const crossed = cross(new cairn.CairnError('unexpected', 'outer', { cause: inner }));
  expect(crossed.cause).toBeInstanceOf(cairn.StorageError);
  expect(crossed.cause).toMatchObject({
    code: 'storage_full',
    cause: { name: 'QuotaExceededError', message: 'The disk is full.' },
  });
});

test.each([undefined, null, 'text', 5, { message: 'no error' }])(
  '%o crosses as an error',
  (thrown) => {
    expect(cross(thrown)).toBeInstanceOf(Error);
  },
);

test('an error that is its own cause crosses', () => {
  const error: Error & { cause?: unknown } = new Error('round and round');
  error.cause = error;
  expect(cross(error).message).toBe('round and round');
});

test('errors of calls are the same through a worker and in the thread', async () => {
  const worker = new MessageWorker();
  const connection = cairn.connect({
    name: 'wire errors',
    storage: 'memory',
    worker: worker.asWorker,
  });
  const notes = new connection.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
  await notes.insert({ _id: 'a', n: 'text' });
  const taken = await notes.insert({ _id: 'a' }).catch((error: unknown) => error);
  expect(taken).toBeInstanceOf(cairn.ValueError);
  expect(taken).toMatchObject({ code: 'id_taken', place: '_id' });
  const criteria = await notes.find({ n: { $no: 1 } } as never).catch((error: unknown) => error);
  expect(criteria).toBeInstanceOf(cairn.CriteriaError);
  expect(criteria).toMatchObject({ code: 'operator_unknown' });
  const mismatch = await notes.patch('a', { 'n.deep': 1 }).catch((error: unknown) => error);
  expect(mismatch).toBeInstanceOf(cairn.KeyError);
  expect(mismatch).toMatchObject({ code: 'kind_mismatch', place: 'n.deep' });
  await connection.close();
});

test('a failed call of a batch fails alone', async () => {
  const worker = new MessageWorker();
  const connection = cairn.connect({ name: 'batch', storage: 'memory', worker: worker.asWorker });
  const notes = new connection.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
  const calls = [
    notes.insert({ _id: 'a' }),
    notes.insert({ _id: 'a' }),
    notes.insert({ _id: 'b' }),
    notes.count(),
  ];
  const results = await Promise.allSettled(calls);
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(results[3]).toMatchObject({ value: 2 });
  await connection.close();
});
