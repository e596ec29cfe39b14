import { beforeEach, describe, expect, test, vi } from 'vitest';
import { wait } from '../../src/async/coroutine.ts';
import { parts } from '../../src/engine/parts.ts';
import { CairnError } from '../../src/errors/errors.ts';
import { asAcknowledged } from '../../src/page/connection/replay.ts';
import { DATABASE, type Request } from '../../src/protocol/requests.ts';
import { type FaultyDriver, faultyDriver } from '../storage/faulty-driver.ts';
import { FakeClock } from './fake-clock.ts';
import { ReplayingClient } from './replaying-client.ts';
import { ask, join, NOTES, takeOver, VALUES } from './successive-engines.ts';

let driver: FaultyDriver;
let clock: FakeClock;
let client: ReplayingClient;
let transactions: number;

beforeEach(() => {
  driver = faultyDriver();
  clock = new FakeClock();
  client = new ReplayingClient();
  transactions = 0;
});

const insert = (id: string, n: number): Request => ({
  ...{ op: 'insert', handle: NOTES, id, body: JSON.stringify({ n }) },
});
const INSERT: Request = { op: 'insert', handle: NOTES, id: undefined, body: '{"n":7}' };
const increase = (id: string, by: number): Request => ({
  ...{ op: 'patch', handle: NOTES, id, changes: JSON.stringify({ $inc: { n: by } }) },
});
const add = (key: string, amount: number): Request => ({
  ...{ op: 'kvAdd', handle: VALUES, key, amount },
});

/** Stages changes. @returns the commit. */
async function stage(...changes: Request[]): Promise<Request<'commit'>> {
  const transaction = ++transactions;
  const acknowledged: Request[] = [];
  for (const change of changes) {
    const reply = await client.make({ ...change, transaction });
    acknowledged.push(asAcknowledged(change, reply) as Request);
  }
  return { op: 'commit', handle: 0, transaction, changes: acknowledged, numbers: [] };
}

/** Joins the engine that takes over after a crash. @returns the errors of the replay. */
async function failOver(kept = client.kept.all()): Promise<unknown[]> {
  driver.crash();
  await clock.advance(5000);
  return [...(await client.join(await takeOver(driver, clock, 'a'), kept)).values()];
}

test('a commit that waits for its code is refused if its client has left', async () => {
  const engine = await takeOver(driver, clock);
  const { session } = join(engine, 'b');
  await ask(session, { ...insert('y', 1), transaction: 7 });
  const code = await parts.load('transactions');
  let come: (value: typeof code) => void = () => undefined;
  const late = new Promise<typeof code>((resolve) => {
    come = resolve;
  });
  vi.spyOn(parts, 'need').mockImplementationOnce((() => wait(late)) as never);
  const numbers: [number, number][] = [[NOTES, 1]];
  const commit = { op: 'commit', handle: 0, transaction: 7, changes: [], numbers } as const;
  const committing = session.execute([commit]);
  session.leave();
  come(code);
  expect((await committing).failures?.get(0)).toMatchObject({ code: 'transaction_over' });
  const count = { op: 'count', handle: NOTES } as Request;
  expect(await ask(join(engine, 'c').session, count)).toBe(0);
});

describe('after a failover', () => {
  beforeEach(async () => {
    await client.join(await takeOver(driver, clock));
    await client.make(insert('x', 1));
  });

  test('an acknowledged transaction is reapplied, with its ids and times', async () => {
    await clock.advance(1000);
    const commit = await stage(increase('x', 5), INSERT, add('k', 2));
    await clock.advance(1000);
    expect(await client.make(commit)).toBe('committed');
    const before = await client.contents();
    expect(before).toMatchObject({ entries: { keys: ['k'], bodies: ['2'] } });
    expect(await failOver()).toEqual([]);
    expect(await client.contents()).toEqual(before);
  });

  test.each<[string, () => Request | Promise<Request>]>([
    ['a transaction', () => stage(increase('x', 5))],
    ['an update', () => ({ ...increase('x', 5), needs: ['updates'] })],
    ['a transaction with one', () => stage({ ...increase('x', 5), needs: ['updates'] })],
  ])(
    '%s whose code does not load stays with its client, and no change overtakes it',
    async (_, make) => {
      await client.make(await make());
      await client.make(increase('x', 10));
      const before = await client.contents();
      vi.spyOn(parts, 'load').mockRejectedValueOnce(new CairnError('load_failed', ''));
      expect(await failOver()).toEqual([
        expect.objectContaining({ code: 'load_failed' }),
        expect.objectContaining({ code: 'load_failed' }),
      ]);
      // A backup would be made without it, and one that is loaded, changed by it.
      const backUp: Request = { op: 'createBackup', handle: NOTES, asked: 1 };
      const load: Request = { op: 'loadBackup', handle: NOTES, name: 'any', version: 1 };
      // A collection of another name would not get it, and an import would be changed by it.
      const rename: Request = { op: 'rename', handle: DATABASE, from: 'notes', to: 'others' };
      const importAll: Request = { op: 'importAll', handle: DATABASE, call: 1, merge: false };
      const save: Request = { op: 'save', handle: NOTES };
      for (const request of [increase('x', 100), backUp, load, rename, importAll, save])
        await expect(client.make(request)).rejects.toMatchObject({ code: 'load_failed' });
      expect(await client.replayAgain()).toEqual(new Map());
      expect(await client.contents()).toEqual(before);
      await client.make(increase('x', 100));
      expect(await client.contents()).not.toEqual(before);
    },
  );

  test('one that was saved is not applied twice, though its client has not heard of the save', async () => {
    await client.make(await stage(increase('x', 5), add('k', 2)));
    const heard = client.kept.all();
    const before = await client.contents();
    await client.save();
    expect(await failOver(heard)).toEqual([]);
    expect(await client.contents()).toEqual(before);
  });

  test('one is released when all its collections are saved, not before', async () => {
    await client.make(await stage(insert('gone', 1), add('k', 2)));
    await client.make(await stage({ op: 'delete', handle: NOTES, id: 'gone' }, add('k', 2)));
    client.hear();
    expect(client.kept.size).toBe(3);
    await client.save();
    client.hear();
    expect(client.kept.size).toBe(0);
  });

  test('it keeps its place between the changes before and after it', async () => {
    await client.make(increase('x', 1));
    await client.make(
      await stage(
        { op: 'patch', handle: NOTES, id: 'x', changes: '{"$mul":{"n":10}}' },
        add('k', 1),
      ),
    );
    await client.make(increase('x', 1));
    await client.make({ op: 'kvSet', handle: VALUES, key: 'k', body: '"end"' });
    expect(await failOver()).toEqual([]);
    expect(await client.contents()).toMatchObject({
      bodies: ['{"n":21}'],
      entries: { bodies: ['"end"'] },
    });
  });

  test('a commit that the lost engine did not answer is lost, and nothing of it is there', async () => {
    const commit = await stage(increase('x', 5), add('k', 2));
    await failOver();
    const before = await client.contents();
    expect(await client.make(commit)).toBe('lost');
    expect(await client.contents()).toEqual(before);
    expect(client.kept.size).toBe(1);
  });

  test('a commit that the lost engine has saved is committed, without the answer', async () => {
    const commit = await stage(increase('x', 5), add('k', 2));
    const kept = client.kept.all();
    await client.make(commit);
    const before = await client.contents();
    await client.save();
    await failOver(kept);
    // The same request, with the same sequence numbers.
    expect(await client.repeat(commit)).toBe('committed');
    expect(await client.contents()).toEqual(before);
  });

  test('a conflict changes nothing, and is not replayed', async () => {
    const commit = await stage(increase('x', 5), add('k', 2));
    await client.make(increase('x', 1));
    expect(await client.make(commit)).toBe('conflict');
    expect(await failOver()).toEqual([]);
    expect(await client.contents()).toMatchObject({ bodies: ['{"n":2}'], entries: { keys: [] } });
  });
});

test.each(['before', 'after'] as const)(
  'a crash %s any call to storage leaves all of a transaction or nothing',
  async (when) => {
    for (let after = 0; ; after++) {
      driver = faultyDriver();
      clock = new FakeClock();
      client = new ReplayingClient();
      await client.join(await takeOver(driver, clock));
      await client.make(insert('x', 1));
      await client.save();
      await client.make(await stage(increase('x', 5), add('k', 2)));
      await client.make(await stage(increase('x', 5), add('k', 2)));
      driver.cut({ after, when, dies: true });
      const isSaved = await client.save().then(
        () => true,
        () => false,
      );
      driver.heal();
      driver.crash();
      const next = new ReplayingClient();
      await next.join(await takeOver(driver, clock));
      const { bodies, entries } = (await next.contents()) as any;
      expect([['{"n":1}'], ['{"n":11}']]).toContainEqual(bodies);
      expect(entries.bodies).toEqual(bodies[0] === '{"n":11}' ? ['4'] : []);
      if (isSaved) {
        expect(after).toBeGreaterThan(0);
        expect(bodies).toEqual(['{"n":11}']);
        return;
      }
    }
  },
);

describe('a transaction that has read unsaved changes of another client', () => {
  const other = { op: 'kvSet', handle: VALUES, key: 'k', body: '1' } as const;

  /**
   * Another client makes a change that nothing saves, and the client a transaction that has read
   * it.
   */
  async function dependent(beforeCommit?: () => void): Promise<unknown> {
    const engine = await takeOver(driver, clock);
    await client.join(engine);
    await client.make(insert('x', 1));
    await client.save();
    const { session } = join(engine, 'b');
    await session.execute([other], [[VALUES, 1]]);
    await client.make({ op: 'kvGet', handle: VALUES, key: 'k', transaction: 1 });
    const commit = await stage(increase('x', 1));
    beforeCommit?.();
    return client.make(commit);
  }

  test('is acknowledged when both are saved, so a crash loses neither alone', async () => {
    expect(await dependent()).toBe('committed');
    const kept = client.kept.all();
    driver.crash();
    expect(await failOver(kept)).toEqual([]);
    expect(await client.contents()).toMatchObject({
      bodies: ['{"n":2}'],
      entries: { keys: ['k'] },
    });
  });

  test('is acknowledged although storage fails', async () => {
    const fail = () => driver.inject({ call: 'write', when: 'before' });
    expect(await dependent(fail)).toBe('committed');
    driver.heal();
  });

  test('is not saved early for its own changes', async () => {
    await client.join(await takeOver(driver, clock));
    await client.make({ ...other });
    const before = driver.batches.length;
    await client.make({ op: 'kvGet', handle: VALUES, key: 'k', transaction: 1 });
    expect(await client.make(await stage(insert('x', 1)))).toBe('committed');
    expect(driver.batches.length).toBe(before);
  });
});
