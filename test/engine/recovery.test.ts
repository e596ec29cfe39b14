import { beforeEach, describe, expect, test } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import type { Session } from '../../src/engine/sessions/session.ts';
import type { RecoveryRecord } from '../../src/protocol/recovery-records.ts';
import {
  type AcknowledgedChange,
  type Request,
  UNACKNOWLEDGED,
} from '../../src/protocol/requests.ts';
import type { CollectionSettings } from '../../src/protocol/settings.ts';
import { type FaultyDriver, faultyDriver, outage } from '../storage/faulty-driver.ts';
import { FakeClock, settled } from './fake-clock.ts';
import {
  ask,
  join,
  NOTES,
  notes,
  opened,
  takeOver as takeOverFrom,
  VALUES,
} from './successive-engines.ts';

let driver: FaultyDriver;
let clock: FakeClock;

beforeEach(() => {
  driver = faultyDriver();
  clock = new FakeClock();
});

const takeOver = (...expected: string[]) => takeOverFrom(driver, clock, ...expected);

const listOf = async (engine: Engine): Promise<unknown> => {
  const { session } = join(engine, 'reader');
  const found = await ask(session, { op: 'kvGet', handle: VALUES, key: 'list' });
  session.leave();
  return found && JSON.parse(found.body);
};

const push = (number: number, turn: number, value: unknown): AcknowledgedChange => ({
  number,
  turn,
  request: { op: 'kvPush', handle: VALUES, key: 'list', body: JSON.stringify(value) },
});
const insert = (number: number, turn: number, id: string, now?: number): AcknowledgedChange => ({
  number,
  turn,
  request: { op: 'insert', handle: NOTES, id, body: '{}', now },
});

async function leaveRecord(client: string, ...changes: AcknowledgedChange[]): Promise<void> {
  const storage = await driver.open('db', { damaged: () => undefined });
  const value: RecoveryRecord = { client, ending: 1, opened, changes };
  const put = { type: 'put', store: 'recovery', key: [client, 1], value } as const;
  await storage.write([put], 'relaxed');
}

async function recoveryRecords(): Promise<unknown[]> {
  const storage = await driver.open('db', { damaged: () => undefined });
  return storage.keys('recovery', []);
}

describe('a unique index violated by replayed changes', () => {
  const unique = { name: 'n', fields: ['n'], unique: true, multi: false };
  const indexed: CollectionSettings = { ...notes, indexes: [unique] };
  const document = (number: number, turn: number, id: string): AcknowledgedChange => ({
    number,
    turn,
    request: { op: 'insert', handle: NOTES, id, body: '{"n":1}', now: 5 },
  });
  const count: Request = { op: 'count', handle: NOTES, archived: true };

  async function replayBoth(declared: readonly CollectionSettings[]) {
    const engine = await takeOver('new', 'old');
    const [first, second] = ['new', 'old'].map((client, index) => {
      const session = engine.join(() => undefined, client);
      session.openAll([[NOTES, declared[index] as CollectionSettings]]);
      return session;
    }) as [Session, Session];
    const failures = await Promise.all([
      first.replay([]),
      second.replay([document(1, 1, 'x'), document(2, 2, 'y')]),
    ]);
    await engine.recovery.over;
    return { first, second, failures: failures.map(({ size }) => size) };
  }

  test('is given up if the replaying handle does not declare it: no acknowledged change is lost', async () => {
    const { first, second, failures } = await replayBoth([indexed, notes]);
    expect(failures).toEqual([0, 0]);
    expect(await ask(second, count)).toBe(2);
    await expect(ask(first, count)).rejects.toMatchObject({ code: 'unique_violation', place: 'n' });
    await ask(second, { op: 'delete', handle: NOTES, id: 'x' });
    await ask(first, { op: 'open', handle: 7, settings: indexed });
    expect(await ask(first, { ...count, handle: 7 })).toBe(1);
  });

  test('refuses them if the replaying handle declares it, too', async () => {
    const { first, second, failures } = await replayBoth([indexed, indexed]);
    expect(failures).toEqual([0, 1]);
    expect(await ask(first, count)).toBe(1);
    expect(await ask(second, count)).toBe(1);
  });

  test('is given up for an insertMany in several parts', async () => {
    const engine = await takeOver('new', 'old');
    const [first, second] = [indexed, notes].map((settings, index) => {
      const session = engine.join(() => undefined, ['new', 'old'][index]);
      session.openAll([[NOTES, settings]]);
      return session;
    }) as [Session, Session];
    const part = (number: number, from: number, ids: string[], last: boolean) => {
      const bodies = ids.map(() => '{"n":1}');
      const call = { op: 'insertPart', handle: NOTES, call: 3, now: 5 } as const;
      return { number, turn: number, request: { ...call, from, ids, bodies, last } };
    };
    const replayed = [
      first.replay([]),
      second.replay([part(1, 0, ['a', 'b'], false), part(2, 2, ['c'], true)]),
    ];
    expect((await Promise.all(replayed)).map(({ size }) => size)).toEqual([0, 0]);
    expect(await ask(second, count)).toBe(3);
    await expect(ask(first, count)).rejects.toMatchObject({ code: 'unique_violation' });
  });
});

describe('a replay', () => {
  test('is applied in order of turns, not of arrival', async () => {
    const engine = await takeOver('a', 'b');
    const [a, b] = [join(engine, 'a'), join(engine, 'b')];
    const made = [
      b.session.replay([push(1, 2, 'b2'), push(2, 5, 'b5')]),
      a.session.replay([
        push(1, 1, 'a1'),
        push(2, 3, 'a3'),
        push(3, 3, 'a3 too'),
        push(4, 9, 'a9'),
      ]),
    ];
    for (const failures of await Promise.all(made)) expect(failures.size).toBe(0);
    expect(await listOf(engine)).toEqual(['a1', 'b2', 'a3', 'a3 too', 'b5', 'a9']);
  });

  test('delays all answers, for 200 ms at most', async () => {
    const engine = await takeOver('a', 'frozen');
    const a = join(engine, 'a');
    const replayed = a.session.replay([push(1, 1, 'a')]);
    const answer = ask(a.session, push(2, 0, 'new').request);
    let isAnswered = false;
    answer.then(() => {
      isAnswered = true;
    });
    await settled();
    await clock.advance(199);
    expect([isAnswered, engine.recovery.isOver]).toEqual([false, false]);
    await clock.advance(1);
    await replayed;
    expect(JSON.parse(await answer)).toEqual(['a', 'new']);
  });

  test('delays nothing once every expected client has replayed', async () => {
    const engine = await takeOver('a');
    await join(engine, 'a').session.replay([]);
    await engine.recovery.over;
    expect(clock.elapsed()).toBe(0);
  });

  test('that is late is applied after the changes answered meanwhile', async () => {
    const engine = await takeOver('late');
    const early = join(engine, 'early');
    await settled();
    await clock.advance(200);
    await engine.recovery.over;
    await ask(early.session, push(1, 0, 'early').request);
    const late = join(engine, 'late');
    expect((await late.session.replay([push(1, 1, 'late')])).size).toBe(0);
    expect(await listOf(engine)).toEqual(['early', 'late']);
  });

  test('keeps the acknowledged ids and times', async () => {
    const engine = await takeOver('a');
    const a = join(engine, 'a');
    const [before, later] = [clock.now() - 5000, clock.now() - 3000];
    const patch: Request = {
      op: 'patch',
      handle: NOTES,
      id: 'x',
      changes: '{"n":1}',
      now: later,
    };
    await a.session.replay([insert(1, 1, 'x', before), { number: 2, turn: 2, request: patch }]);
    const [id, , stamps] = await ask(a.session, { op: 'get', handle: NOTES, id: 'x' });
    expect([id, stamps]).toEqual(['x', [before, later, 0, 0]]);
  });

  test('gives later changes higher turns, while the epoch cannot be read too', async () => {
    const engine = await takeOver('a');
    driver.inject({ call: 'getMany', when: 'before', times: 6 });
    const a = join(engine, 'a');
    await a.session.replay([push(1, 2 ** 40, 'a')]);
    await engine.recovery.over;
    const { turn } = await a.session.execute([push(2, 0, 'b').request]);
    expect(turn).toBeGreaterThan(2 ** 40);
  });

  test('gives later changes higher turns', async () => {
    const engine = await takeOver('a');
    const a = join(engine, 'a');
    await a.session.replay([push(1, 2 ** 40, 'a')]);
    const { turn } = await a.session.execute([push(2, 0, 'b').request]);
    expect(turn).toBeGreaterThan(2 ** 40);
  });

  test('reports each failed change by its index; the others are applied', async () => {
    const engine = await takeOver('a');
    const a = join(engine, 'a');
    const add: Request = { op: 'kvAdd', handle: VALUES, key: 'list', amount: 1 };
    const failures = await a.session.replay([
      push(1, 1, 'a'),
      { number: 2, turn: 2, request: add },
      push(3, 3, 'b'),
      insert(1, 4, 'x'),
      insert(2, 5, 'x'),
    ]);
    expect([...failures.keys()].toSorted()).toEqual([1, 4]);
    expect(failures.get(1)).toMatchObject({ code: 'kind_mismatch' });
    expect(failures.get(4)).toMatchObject({ code: 'id_taken' });
    expect(await listOf(engine)).toEqual(['a', 'b']);
  });
});

describe('a replayed change that is already durable', () => {
  test('is not applied twice, and is reported as released', async () => {
    const first = await takeOver();
    const a = join(first, 'a');
    await a.session.execute([push(1, 0, 1).request, push(2, 0, 2).request], [[VALUES, 1]]);
    await a.session.save();
    await a.session.execute([push(3, 0, 3).request], [[VALUES, 3]]);
    driver.crash();

    const second = await takeOver('a');
    const again = join(second, 'a');
    const replayed = [push(1, 1, 1), push(2, 1, 2), push(3, 2, 3)];
    expect((await again.session.replay(replayed)).size).toBe(0);
    expect(await listOf(second)).toEqual([1, 2, 3]);
    const ofValues = { type: 'released', detail: { handle: VALUES, number: 2 } };
    expect(again.events).toContainEqual(expect.objectContaining(ofValues));
    await again.session.save();
    expect(again.events.at(-1)).not.toMatchObject(ofValues);
    driver.crash();

    const third = await takeOver('a');
    await join(third, 'a').session.replay(replayed);
    expect(await listOf(third)).toEqual([1, 2, 3]);
  });

  test('is recognized after its segment was merged', async () => {
    const first = await takeOver();
    const a = join(first, 'a');
    const pad = 'x'.repeat(60_000);
    for (let number = 1; number < 5; number++) {
      const request: Request = { op: 'kvSet', handle: VALUES, key: `k${number}`, body: `"${pad}"` };
      await a.session.execute([request], [[VALUES, number]]);
      await a.session.save();
    }
    await a.session.execute([push(5, 0, 5).request], [[VALUES, 5]]);
    await a.session.save();
    await first.stop();
    const second = await takeOver('a');
    await join(second, 'a').session.replay([push(5, 1, 5)]);
    expect(await listOf(second)).toEqual([5]);
  });

  test('is recognized by client and handle: the same number of another client is applied', async () => {
    const first = await takeOver();
    const a = join(first, 'a');
    await a.session.execute([push(1, 0, 'a').request], [[VALUES, 1]]);
    await a.session.save();
    driver.crash();
    const second = await takeOver('b');
    const b = join(second, 'b');
    await b.session.replay([push(1, 1, 'b')]);
    expect(await listOf(second)).toEqual(['a', 'b']);
  });

  test('is recognized although it follows a failed one, which the replay may apply', async () => {
    const first = await takeOver();
    const a = join(first, 'a');
    const add: Request = { op: 'kvAdd', handle: VALUES, key: 'list', amount: 1 };
    await a.session.execute([push(1, 0, 1).request, add, push(3, 0, 3).request], [[VALUES, 1]]);
    await a.session.save();
    driver.crash();
    const second = await takeOver('a');
    const again = join(second, 'a');
    const retried: AcknowledgedChange = { ...push(2, 2, 2) };
    await again.session.replay([push(1, 1, 1), retried, push(3, 3, 3)]);
    expect(await listOf(second)).toEqual([1, 3, 2]);
  });
});

describe('the parts of an insertMany', () => {
  const part = (
    number: number,
    turn: number,
    ids: readonly (string | undefined)[],
    last: boolean,
  ): AcknowledgedChange => ({
    number,
    turn,
    request: {
      ...{ op: 'insertPart', handle: NOTES, call: 7, from: last ? 2 : 0, last },
      ...{ ids, bodies: ids.map(() => '{}') },
    } as Request,
  });
  const parts = [part(1, 1, ['a', 'b'], false), part(3, 5, ['c'], true)];
  const ids = async (engine: Engine) => {
    const { session } = join(engine, 'reader');
    const scan: Request = { op: 'scan', handle: NOTES, archived: true, all: true };
    return (await ask(session, scan)).keys;
  };

  test('are inserted together, at the last one, after changes in between', async () => {
    const engine = await takeOver('a');
    const { session } = join(engine, 'a');
    expect((await session.replay([...parts, insert(2, 3, 'between')])).size).toBe(0);
    expect(await ids(engine)).toEqual(['between', 'a', 'b', 'c']);
  });

  test('are applied once, although the ids of the replay are taken', async () => {
    const first = await takeOver('a');
    const { session } = join(first, 'a');
    await session.replay(parts);
    await session.save();
    driver.crash();
    const second = await takeOver('a');
    const again = join(second, 'a');
    expect((await again.session.replay(parts)).size).toBe(0);
    expect(await ids(second)).toEqual(['a', 'b', 'c']);
  });

  test('may be completed with the next leader', async () => {
    const first = await takeOver();
    const a = join(first, 'a');
    const [begin, end] = parts as [AcknowledgedChange, AcknowledgedChange];
    await a.session.execute([begin.request], [[NOTES, 1]]);
    await a.session.execute([insert(2, 0, 'between').request], [[NOTES, 2]]);
    await a.session.save();
    driver.crash();
    const second = await takeOver('a');
    const again = join(second, 'a');
    expect((await again.session.replay([begin])).size).toBe(0);
    const reply = await again.session.execute([end.request], [[NOTES, 3]]);
    expect(reply.failures).toBeUndefined();
    expect(await ids(second)).toEqual(['between', 'a', 'b', 'c']);
  });

  test('are applied once, although both a recovery record and the returning page replay some', async () => {
    const unacknowledged = part(1, UNACKNOWLEDGED, [undefined, undefined], false);
    await leaveRecord('a', unacknowledged);
    const engine = await takeOver();
    await engine.recovery.over;
    const { session } = join(engine, 'a');
    const begun = await ask(session, unacknowledged.request);
    await ask(session, part(2, 0, ['c'], true).request);
    expect(await ids(engine)).toEqual([...begun.keys, 'c']);
  });

  test('are kept until their client leaves, and then discarded', async () => {
    const [begin, end] = parts as [AcknowledgedChange, AcknowledgedChange];
    for (const wait of [true, false]) {
      const engine = await takeOver();
      const [a, again, b] = [join(engine, 'a'), join(engine, 'a'), join(engine, 'b')];
      const begun = [a.session.execute([begin.request]), again.session.execute([begin.request])];
      // Otherwise they wait for the collection to open.
      if (wait) await Promise.all(begun);
      a.session.leave();
      await Promise.all(begun);
      await ask(again.session, end.request);
      expect(await ids(engine)).toEqual(['a', 'b', 'c']);
      await ask(again.session, { op: 'deleteMany', handle: NOTES, ids: ['a', 'b', 'c'] });

      const left = again.session.execute([begin.request]);
      if (wait) await left;
      again.session.leave();
      await left;
      await expect(ask(b.session, end.request)).rejects.toMatchObject({ code: 'insert_lost' });
      expect(await ids(engine)).toEqual([]);
      driver.crash();
    }
  });

  test('of an incomplete recovery record are discarded', async () => {
    const [begin, end] = parts as [AcknowledgedChange, AcknowledgedChange];
    await leaveRecord('a', begin);
    const engine = await takeOver();
    await engine.recovery.over;
    const b = join(engine, 'b');
    await expect(ask(b.session, end.request)).rejects.toMatchObject({ code: 'insert_lost' });
  });

  test('are not inserted if one is missing, which is reported as insert_lost', async () => {
    const [, end] = parts as [AcknowledgedChange, AcknowledgedChange];
    await leaveRecord('a', end);
    const engine = await takeOver();
    const { events } = join(engine, 'b');
    await engine.recovery.over;
    expect(await ids(engine)).toEqual([]);
    const errors = events.flatMap((event) => (event.type === 'error' ? event.detail.error : []));
    expect(errors).toMatchObject([{ code: 'insert_lost', place: 'notes' }]);
  });

  test('are inserted by a complete replay after an incomplete recovery record', async () => {
    const [begin, end] = parts as [AcknowledgedChange, AcknowledgedChange];
    await leaveRecord('a', { ...end, request: { ...end.request, last: false } as Request });
    const engine = await takeOver();
    await engine.recovery.over;
    const { session } = join(engine, 'a');
    expect((await session.replay([begin, end])).size).toBe(0);
    expect(await ids(engine)).toEqual(['a', 'b', 'c']);
  });

  test('fail together', async () => {
    const engine = await takeOver('a');
    const { session } = join(engine, 'a');
    const failures = await session.replay([insert(2, 0, 'c'), ...parts]);
    expect([...failures.values()]).toMatchObject([{ code: 'id_taken' }]);
    expect(await ids(engine)).toEqual(['c']);
  });
});

describe('a recovery record', () => {
  test('is applied together with the replays, then saved and removed', async () => {
    await leaveRecord('gone', push(1, 2, 'gone 2'), push(2, UNACKNOWLEDGED, 'gone, unanswered'));
    const engine = await takeOver('a');
    const a = join(engine, 'a');
    await a.session.replay([push(1, 1, 'a1'), push(2, 3, 'a3')]);
    await engine.recovery.over;
    expect(await listOf(engine)).toEqual(['a1', 'gone 2', 'a3', 'gone, unanswered']);
    await settled();
    expect(await recoveryRecords()).toEqual([]);
    driver.crash();
    expect(await listOf(await takeOver())).toEqual(['a1', 'gone 2', 'a3', 'gone, unanswered']);
  });

  test('is applied once, although engines end before they remove it', async () => {
    await leaveRecord('gone', push(1, 1, 1), push(2, 2, 2));
    // Only the removal fails.
    for (let after = 0; after < 8; after++) {
      const engine = await takeOver();
      driver.cut({ after, when: after % 2 ? 'before' : 'after', dies: true });
      await engine.recovery.over;
      await settled();
      driver.crash();
    }
    const last = await takeOver();
    await last.recovery.over;
    expect(await listOf(last)).toEqual([1, 2]);
    await settled();
    expect(await recoveryRecords()).toEqual([]);
  });

  test('written by an ending page is applied by the running engine', async () => {
    const engine = await takeOver();
    const a = join(engine, 'a');
    await ask(a.session, push(1, 0, 'a').request);
    await leaveRecord('gone', push(1, 1, 'gone'));
    engine.takeOver();
    await settled();
    expect(await listOf(engine)).toEqual(['a', 'gone']);
    expect(await recoveryRecords()).toEqual([]);
  });

  test('that cannot be applied is reported once and removed', async () => {
    await leaveRecord('gone', insert(1, 1, 'x'), insert(2, 2, 'x'), insert(3, 3, 'y'));
    const engine = await takeOver('a');
    const a = join(engine, 'a');
    await a.session.replay([]);
    await engine.recovery.over;
    await settled();
    const errors = a.events.filter(({ type }) => type === 'error');
    expect(errors).toMatchObject([
      { detail: { collection: 'notes', error: { code: 'id_taken' } } },
    ]);
    expect(await recoveryRecords()).toEqual([]);
    expect(await ask(a.session, { op: 'count', handle: NOTES, archived: true })).toBe(2);
  });

  test('stays until its changes are durable, also when a handle declares other indexes', async () => {
    const index = { name: 'n', fields: ['n'], unique: false, multi: false };
    await leaveRecord('gone', insert(1, 1, 'x'));
    driver.inject({ call: 'write', when: 'before', times: 4 });
    const engine = await takeOver();
    const session = engine.join(() => undefined, 'a');
    await engine.recovery.over;
    await ask(session, { op: 'open', handle: 9, settings: { ...notes, indexes: [index] } });
    await expect(session.save()).rejects.toBe(outage);
    expect(await recoveryRecords()).toHaveLength(1);
    driver.heal();
    expect(await ask(session, { op: 'count', handle: 9, archived: true })).toBe(1);
    await session.save();
    await clock.advance(60_000);
    expect(await recoveryRecords()).toEqual([]);
  });

  test('stays while storage fails, and is applied once storage works', async () => {
    await leaveRecord('gone', push(1, 1, 'gone'));
    const engine = await takeOver('a');
    const a = join(engine, 'a');
    driver.inject({ call: 'write', when: 'before', times: 1 });
    await a.session.replay([]);
    await engine.recovery.over;
    await settled();
    expect(a.events.filter(({ type }) => type === 'error')).not.toEqual([]);
    expect(await recoveryRecords()).toHaveLength(1);
    await clock.advance(60_000);
    expect(await recoveryRecords()).toEqual([]);
    expect(await listOf(engine)).toEqual(['gone']);
  });
});
