import { describe, expect, test } from 'vitest';
import { StorageError } from '../../src/index.ts';
import { faultyDriver, outage } from '../storage/faulty-driver.ts';
import { openClient, type TestClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

const documents = { name: 'notes', type: 'DOCUMENT_BASED' } as const;
const MINUTE = 60_000;

function errorsOf({ client }: TestClient): Error[] {
  const errors: Error[] = [];
  client.on('error', ({ error }) => errors.push(error));
  return errors;
}

describe.each([true, false])('a save that fails, caching %s', (caching) => {
  test.each(['before', 'after'] as const)(
    '%s it took effect is reported to all listeners and retried',
    async (when) => {
      const driver = faultyDriver();
      const test = openClient(driver);
      const errors = errorsOf(test);
      const notes = new test.client.Collection({ ...documents, caching });
      driver.inject({ call: 'write', when, times: 3 });
      await notes.insert({ _id: 'a' });
      await expect(notes.save()).rejects.toBe(outage);
      expect(errors).toEqual([outage]);
      expect(test.client.status).toMatchObject({
        unsaved: 1,
        last_error: outage,
        last_save: undefined,
      });
      expect(test.client.status.unsaved_since).toBeInstanceOf(Date);

      // Retried by itself, after a delay.
      await test.clock.advance(499);
      expect(driver.calls.write).toBe(1);
      await test.clock.advance(MINUTE);
      expect(driver.calls.write).toBe(4);
      expect(errors).toHaveLength(3);
      expect(test.client.status).toMatchObject({ unsaved: 0, last_error: undefined });
      expect(test.client.status.last_save).toBeInstanceOf(Date);
      driver.crash();
      const later = openClient(driver);
      expect(await new later.client.Collection(documents).count()).toBe(1);
    },
  );

  test('is the last error until its changes are stored, whatever else is', async () => {
    const driver = faultyDriver();
    const test = openClient(driver);
    const [notes, others] = ['notes', 'others'].map(
      (name) => new test.client.Collection({ ...documents, name, caching }),
    ) as [any, any];
    await notes.insert({ _id: 'a' });
    driver.inject({ call: 'write', when: 'before' });
    await expect(notes.save()).rejects.toBe(outage);
    await others.insert({ _id: 'b' });
    await others.save();
    expect(test.client.status).toMatchObject({ unsaved: 1, last_error: outage });
    await test.clock.advance(1);
    await notes.insert({ _id: 'c' });
    await notes.save();
    expect(test.client.status).toMatchObject({ unsaved: 0, last_error: undefined });
  });

  test('keeps acknowledged changes readable and saves them later', async () => {
    const driver = faultyDriver();
    const test = openClient(driver);
    const notes = new test.client.Collection({ ...documents, caching, save_directly_after: 2 });
    await notes.insert({ _id: 'old', n: 0 });
    await notes.save();
    driver.inject({ call: 'write', when: 'before', times: Number.POSITIVE_INFINITY });
    for (let n = 0; n < 30; n++) {
      await notes.insert({ _id: `k${n}`, n });
      if (n % 3 === 0) await notes.update(`k${n}`, { n: -n });
      if (n % 5 === 0) await notes.delete(`k${n}`);
      await test.clock.advance(n * 100);
    }
    await notes.delete('old');
    expect(await notes.count()).toBe(24);
    expect(test.client.status.unsaved).toBeGreaterThanOrEqual(25);
    driver.heal();
    await test.clock.advance(MINUTE);
    expect(test.client.status.unsaved).toBe(0);
    driver.crash();
    const again = new (openClient(driver).client.Collection)<{ n: number }>(documents);
    const numbers = (await again.filter({})).map(({ _id, n }) => [_id, n]);
    const expected = Array.from({ length: 30 }, (_, n) => [`k${n}`, n % 3 === 0 ? -n : n]);
    expect(numbers).toEqual(expected.filter((_, n) => n % 5 !== 0));
  });
});

test('retries back off, up to 30 seconds', async () => {
  const driver = faultyDriver();
  const { client, clock } = openClient(driver);
  const notes = new client.Collection(documents);
  driver.inject({ call: 'write', when: 'before', times: Number.POSITIVE_INFINITY });
  await notes.insert({});
  const at: number[] = [];
  let seen = 0;
  for (let second = 0; second < 180; second++) {
    await clock.advance(1000);
    if (driver.calls.write > seen) at.push(second);
    seen = driver.calls.write;
  }
  const waits = at.map((second, index) => second - (at[index - 1] ?? 0)).slice(1);
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
  expect(Math.max(...waits)).toBe(30);
});

test('more changes do not make retries more frequent', async () => {
  const driver = faultyDriver();
  const { client, clock } = openClient(driver);
  const notes = new client.Collection({ ...documents, save_directly_after: 1 });
  driver.inject({ call: 'write', when: 'before', times: Number.POSITIVE_INFINITY });
  for (let n = 0; n < 100; n++) await notes.insert({ n });
  await clock.advance(499);
  expect(driver.calls.write).toBe(1);
});

test('answers that come late do not put the next attempt off', async () => {
  const driver = faultyDriver();
  const { client, clock } = openClient(driver);
  const notes = new client.Collection(documents);
  driver.inject({ call: 'write', when: 'before' });
  for (let n = 0; n < 10; n++) {
    // The list is read from storage, and the answer to both waits for it.
    await Promise.all([notes.insert({ n }), notes.listBackups()]);
    await clock.advance(100);
  }
  expect(driver.calls.write).toBeGreaterThan(1);
  expect(client.status.unsaved).toBeLessThan(10);
});

test('save() of a client tries every collection and rejects with a failure', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  const one = new client.Collection({ ...documents, name: 'one' });
  const two = new client.Collection({ ...documents, name: 'two' });
  await Promise.all([one.insert({}), two.insert({})]);
  driver.inject({ call: 'write', when: 'before' });
  await expect(client.save()).rejects.toBe(outage);
  expect(client.status.unsaved).toBe(1);
  await client.save();
  expect(client.status.unsaved).toBe(0);
});

test('close() rejects while saves fail, loses nothing, and can be called again', async () => {
  const driver = faultyDriver();
  const { client, clock } = openClient(driver);
  const notes = new client.Collection(documents);
  await notes.insert({ _id: 'a' });
  driver.inject({ call: 'write', when: 'before', times: 2 });
  await expect(client.close()).rejects.toBe(outage);
  expect(client.status.state).toBe('open');
  await notes.insert({ _id: 'b' });
  await expect(client.close()).rejects.toBe(outage);
  expect(await notes.count()).toBe(2);
  await client.close();
  expect(client.status.state).toBe('closed');
  await expect(notes.count()).rejects.toMatchObject({ code: 'closed' });
  await clock.advance(MINUTE);
  expect(await new (openClient(driver).client.Collection)(documents).count()).toBe(2);
});

test('a driver error other than a StorageError becomes a CairnError unexpected, with its cause', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  const notes = new client.Collection(documents);
  const cause = new TypeError('the driver has a bug');
  await notes.insert({});
  driver.inject({ call: 'write', when: 'before', error: cause });
  await expect(notes.save()).rejects.toMatchObject({
    name: 'CairnError',
    code: 'unexpected',
    cause,
  });
});

test('a failed compaction is reported and loses no change', async () => {
  const driver = faultyDriver();
  const rig = openClient(driver);
  const errors = errorsOf(rig);
  const notes = new rig.client.Collection<{ pad: string }>(documents);
  await notes.insert({ _id: 'a', pad: 'a'.repeat(50_000) });
  await notes.save();
  driver.inject({ call: 'write', when: 'after', after: 1 });
  await notes.insert({ _id: 'b', pad: 'b'.repeat(50_000) });
  await notes.save();
  await settled();
  expect(errors).toEqual([outage]);
  expect(await notes.count()).toBe(2);
  await notes.insert({ _id: 'c', pad: 'c' });
  await notes.save();
  driver.crash();
  const again = new (openClient(driver).client.Collection)<{ pad: string }>(documents);
  expect((await again.filter({})).map(({ _id, pad }) => [_id, pad.length])).toEqual([
    ['a', 50_000],
    ['b', 50_000],
    ['c', 1],
  ]);
});

test('an unreadable collection rejects with the reason, and is opened again by the next call', async () => {
  const driver = faultyDriver();
  const first = openClient(driver);
  await new first.client.Collection(documents).insert({ _id: 'a' });
  await first.client.close();
  const { client } = openClient(driver);
  const full = new StorageError('storage_failed', 'The disk is on fire.');
  // Recovery records are listed too, and a collection opened ahead is opened again.
  driver.inject({ call: 'list', when: 'before', error: full, times: 3 });
  const broken = new client.Collection(documents);
  await expect(broken.ready).rejects.toBe(full);
  await broken.insert({});
  expect(await new client.Collection(documents).count()).toBe(2);
  await client.close();
});

test('a failed read rejects only its own call', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  const notes = new client.Collection(documents);
  await notes.insert({ _id: 'a' });
  await client.close();
  const again = new (openClient(driver).client.Collection)(documents);
  await again.ready;
  driver.inject({ call: 'getMany', when: 'before' });
  await expect(again.get('a')).rejects.toBe(outage);
  expect(await again.get('a')).toMatchObject({ _id: 'a' });
});
