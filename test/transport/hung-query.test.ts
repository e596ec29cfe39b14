import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClientChannel } from '../../src/page/connection/client-channel.ts';
import type { HandleRequest } from '../../src/page/sending/sender.ts';
import type { ChannelState } from '../../src/protocol/database-settings.ts';
import type { ClientEvent } from '../../src/protocol/event-protocol.ts';
import type { Request } from '../../src/protocol/requests.ts';
import { type CollectionSettings, plainSettings } from '../../src/protocol/settings.ts';
import { TrappedEngines, trap } from './trapped-engines.ts';

let engines: TrappedEngines;

beforeEach(() => {
  engines = new TrappedEngines();
});

afterEach(() => {
  engines[Symbol.dispose]();
  expect(engines.violations).toEqual([]);
});

function open() {
  const states: ChannelState[] = [];
  const events: ClientEvent[] = [];
  const settings = { name: 'trapped', storage: undefined, durability: 'relaxed' } as const;
  const link = new ClientChannel(settings, engines.connect, {
    event: (event) => events.push(event),
    state: (state) => states.push(state),
    isClosing: () => false,
  });
  /** A handle to a collection, to send requests. */
  const collection = (name: string, type: CollectionSettings['type'] = 'DOCUMENT_BASED') => {
    const handle = link.newHandle();
    const send = (ask: HandleRequest) => link.requests.send({ ...ask, handle } as Request);
    send({ op: 'open', settings: plainSettings(name, type) }).catch(() => undefined);
    return send;
  };
  return { link, states, events, collection };
}

type Send = ReturnType<ReturnType<typeof open>['collection']>;

const insert = (id: string, text = id) =>
  ({ op: 'insert', id, body: JSON.stringify({ text }) }) as const;
const push = (value: number) => ({ op: 'kvPush', key: 'list', body: `${value}` }) as const;
const count = { op: 'count', archived: true } as const;
const mayHang = { ...count, criteria: { text: trap(2) }, mayHang: true } as const;
const hang = { ...count, criteria: { text: trap(1) }, mayHang: true } as const;
/** The document that {@link hang} hangs in. */
const bait = insert('bait', 'hang1');

const keysOf = async (send: Send) =>
  ((await send({ op: 'scan', archived: true, all: true })) as { keys: string[] }).keys;
const codes = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map((result) =>
    result.status === 'rejected' ? result.reason.code : 'resolved',
  );
const hung = { name: 'WorkerError', code: 'query_hung', place: 'notes' };

/** Crashes the running engine when it receives such a request, before it executes it. */
function crashOver(op: Request['op'], times = 1): void {
  let left = times;
  engines.onRequest = (request) => {
    if (request.op === op && left-- > 0) engines.crash();
  };
}

describe('a call that hangs', () => {
  test('shows in its error, an error event and the states of the link', async () => {
    const { collection, states, events } = open();
    const notes = collection('notes');
    await notes(bait);
    const cause = { code: 'worker_unresponsive' };
    await expect(notes(hang)).rejects.toMatchObject({ ...hung, cause });
    expect(await notes(count)).toBe(1);
    expect(states).toEqual(['opening', 'open', 'opening', 'open']);
    expect(events.filter(({ type }) => type === 'error')).toMatchObject([
      { detail: { collection: 'notes', error: hung } },
    ]);
  });

  test('is the only call that fails, among many waiting and hung calls', async () => {
    const { collection } = open();
    const notes = collection('notes');
    const calls = [notes(bait)];
    for (let round = 0; round < 12; round++) {
      calls.push(notes(count), notes(hang), notes(insert(`n${round}`)), notes(mayHang));
    }
    const outcomes = await codes(calls);
    expect(outcomes.filter((code) => code === 'query_hung')).toHaveLength(12);
    expect(outcomes.filter((code) => code === 'resolved')).toHaveLength(calls.length - 12);
    expect(engines.hung).toBe(12);
    expect(await keysOf(notes)).toEqual(['bait', ...Array.from({ length: 12 }, (_, n) => `n${n}`)]);
  });

  test('with data only in memory loses the data and fails all calls', async () => {
    engines.storageKind = 'memory';
    const { collection, link, events } = open();
    const notes = collection('notes');
    await notes(bait);
    const calls = [notes(hang), notes(count), link.save()];
    expect(await codes(calls)).toEqual(Array(3).fill('worker_unresponsive'));
    expect(link.state).toBe('failed');
    expect(engines.engines).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'error')).toEqual([]);
    await expect(notes(count)).rejects.toMatchObject({ code: 'worker_unresponsive' });
  });

  test('without another worker fails all waiting calls', async () => {
    engines.left = 1;
    const { collection, link } = open();
    const notes = collection('notes');
    await notes(bait);
    const calls = [notes(hang), notes(count), link.save(), link.close()];
    expect(await codes(calls)).toEqual(['query_hung', ...Array(3).fill('worker_start_failed')]);
    expect(link.state).toBe('failed');
    expect(await codes([notes(count)])).toEqual(['worker_start_failed']);
  });

  test('blocks calls that may hang and all after them; earlier others pass', async () => {
    const { collection } = open();
    const notes = collection('notes');
    await notes(bait);
    const [first] = engines.engines;
    let early: readonly string[] = [];
    const hanging = notes(hang);
    const calls = [notes(insert('at once')), notes(mayHang), notes(insert('behind'))];
    calls.push(notes({ op: 'abort', call: 7, urgent: true }));
    hanging.catch(() => {
      early = first?.requests.map(({ op }) => op) ?? [];
    });
    expect(await codes([hanging, ...calls])).toEqual(['query_hung', ...Array(4).fill('resolved')]);
    expect(early).not.toContain('behind');
    const [, second] = engines.engines;
    const requested = second?.requests.map((request) =>
      'id' in request ? request.id : request.op,
    );
    const inOrder = ['at once', 'count', 'behind'];
    expect(requested?.filter((one) => inOrder.includes(one as string))).toEqual(inOrder);
    const ofFirst = first?.requests.map((request) => ('id' in request ? request.id : request.op));
    expect(ofFirst?.filter((one) => one === 'count')).toHaveLength(1);
    expect(ofFirst).not.toContain('behind');
  });
});

describe('a call that is aborted before an engine has got it', () => {
  const reason = new Error('enough');
  const clear = { op: 'deleteMany', archived: true, call: 7 } as const;
  const calls = [
    { ...clear, criteria: { text: trap(3) }, mayHang: true },
    { ...clear, criteria: { text: 'a' } },
    count,
  ] as const;

  test('never begins behind one that may hang', async () => {
    const { collection, link } = open();
    const notes = collection('notes');
    await notes(insert('a'));
    engines.onRequest = ({ mayHang }) => mayHang && link.requests.withdraw(7, reason);
    const ahead = notes(mayHang);
    const results = await Promise.allSettled(calls.map((call) => notes(call)));
    expect(results).toMatchObject([{ reason }, { reason }, { value: 1 }]);
    expect(await ahead).toBe(1);
    expect(engines.running?.requests.map(({ op }) => op)).not.toContain('deleteMany');
    await link.close();
  });

  test('never begins with the next engine', async () => {
    const { collection, link } = open();
    const notes = collection('notes');
    await notes(insert('a'));
    // Turns until the next engine runs.
    engines.delay = () => 50;
    engines.crash();
    while (link.state !== 'opening') await engines.wait(1);
    const settled = Promise.allSettled(calls.map((call) => notes(call)));
    await engines.wait(1);
    expect(link.state).toBe('opening');
    link.requests.withdraw(7, reason);
    engines.delay = () => 1;
    expect(await settled).toMatchObject([{ reason }, { reason }, { value: 1 }]);
    expect(engines.running?.requests.map(({ op }) => op)).not.toContain('deleteMany');
    await link.close();
  });
});

test('only one call that may hang is in flight at a time', async () => {
  const { collection } = open();
  const notes = collection('notes');
  await notes(insert('a'));
  let most = 0;
  engines.onRequest = () => {
    most = Math.max(most, engines.running?.mayHang ?? 0);
  };
  expect(await Promise.all(Array.from({ length: 5 }, () => notes(mayHang)))).toEqual(
    Array(5).fill(1),
  );
  expect(most).toBe(0);
});

describe.each(['hang', 'crash'] as const)('an engine that ends in a %s', (way) => {
  const end = async (notes: Send) => {
    if (way === 'crash') engines.crash();
    else await notes(hang).catch(() => undefined);
    await notes(count);
  };

  test('loses no acknowledged change, and applies none twice', async () => {
    const { collection, link } = open();
    const notes = collection('notes');
    const values = collection('values', 'KEY_VALUE_BASED');
    await notes(bait);
    await values(push(1));
    await link.save();
    await notes(insert('a'));
    await values(push(2));
    await notes({ op: 'delete', id: 'a' });
    await notes(insert('b'));
    for (let round = 0; round < 3; round++) await end(notes);
    await values(push(3));
    expect(await keysOf(notes)).toEqual(['bait', 'b']);
    expect(await values({ op: 'kvGet', key: 'list' })).toMatchObject({ body: '[1,2,3]' });
    // The first change of each is durable, and "a" was deleted; each new engine gets the rest.
    const later = engines.engines.slice(1).map(({ replayed }) => replayed.toSorted());
    expect(later).toEqual(Array(3).fill([2, 4]));
    await link.close();
    const again = open().collection('values', 'KEY_VALUE_BASED');
    expect(await again({ op: 'kvGet', key: 'list' })).toMatchObject({ body: '[1,2,3]' });
  });

  test('is followed by one with the acknowledged ids and times', async () => {
    const { link } = open();
    const handle = link.newHandle();
    const both = { at: true, timestamp: true };
    const settings = {
      ...{ ...plainSettings('notes', 'DOCUMENT_BASED'), created: both, updated: both },
      // Nothing is saved by itself: all of it is replayed.
      ...{ save_early: false, save_timeout: 3600, save_directly_after: 1000 },
    };
    await link.requests.send({ op: 'open', handle, settings });
    await link.requests.send({ ...bait, handle });
    const body = '{}';
    const replies = [await link.requests.send({ op: 'insert', handle, body })] as [
      string,
      number,
      number[],
    ][];
    engines.clock.jump(5000);
    const id = replies[0]?.[0] as string;
    const changes = '{"$inc":{"n":1},"$currentDate":{"at":{"$type":"timestamp"}}}';
    await link.requests.send({ op: 'patch', handle, id, changes });
    engines.clock.jump(5000);
    await link.requests.send({ op: 'patchMany', handle, archived: false, changes });
    const acknowledged = await link.requests.send({ op: 'get', handle, id });
    engines.clock.jump(5000);
    await end((ask) => link.requests.send({ ...ask, handle } as Request));
    expect(await link.requests.send({ op: 'get', handle, id })).toEqual(acknowledged);
  });
});

test('unanswered requests are retried with the same numbers, and applied once', async () => {
  const { collection } = open();
  const values = collection('values', 'KEY_VALUE_BASED');
  await values(push(1));
  crashOver('kvPush');
  const pushed = [values(push(2)), values(push(3))];
  await Promise.all(pushed);
  expect(engines.engines.map(({ numbers }) => numbers)).toEqual([
    [1, 2, 3],
    [2, 3],
  ]);
  expect(await values({ op: 'kvGet', key: 'list' })).toMatchObject({ body: '[1,2,3]' });
});

test('a change saved before its answer was lost rejects with answer_lost', async () => {
  const { collection, link } = open();
  const notes = collection('notes');
  await notes(insert('a'));
  const [first] = engines.engines;
  // Answers take long enough for a save in between.
  engines.delay = () => 20;
  const lost = notes(insert('b'));
  while (!first?.numbers.includes(2)) await engines.wait(1);
  await first?.engine.join(() => undefined).save();
  engines.crash();
  engines.delay = () => 1;
  await expect(lost).rejects.toMatchObject({ code: 'answer_lost', place: 'notes' });
  expect(await keysOf(notes)).toEqual(['a', 'b']);
  await link.close();
});

test('a call that crashes every engine is given up alone, after four retries', async () => {
  const { collection, link } = open();
  const notes = collection('notes');
  await notes(insert('a'));
  crashOver('patch', 4);
  const patch = notes({ op: 'patch', id: 'a', changes: '{}' });
  await expect(patch).rejects.toMatchObject({ name: 'WorkerError', code: 'worker_lost' });
  expect(engines.engines).toHaveLength(5);
  expect(link.state).toBe('open');
  expect(await notes(count)).toBe(1);
});

test('engines that crash on every request are not restarted for ever', async () => {
  const { collection, link } = open();
  const notes = collection('notes');
  await notes(insert('a'));
  engines.onRequest = () => engines.crash();
  await expect(notes(count)).rejects.toMatchObject({ code: 'worker_lost' });
  await expect(notes(count)).rejects.toMatchObject({ code: 'worker_lost' });
  expect(link.state).toBe('failed');
});

test('an import in flight fails with its engine, and changes nothing', async () => {
  const { collection } = open();
  const notes = collection('notes');
  await notes(insert('a'));
  const marks = { urgent: true, once: true } as const;
  const importing = notes({ op: 'importBackup', call: 1, merge: false, ...marks });
  while (!engines.running?.requests.some(({ op }) => op === 'importBackup')) await engines.wait(1);
  engines.crash();
  await expect(importing).rejects.toMatchObject({
    name: 'BackupError',
    code: 'import_lost',
    place: 'notes',
    message: expect.stringContaining('importBackup() of "notes"'),
  });
  expect(await keysOf(notes)).toEqual(['a']);
});

test('a Drop() in flight is not retried by the next engine: the collection may have new data by then', async () => {
  const { collection } = open();
  const notes = collection('notes');
  await notes(insert('a'));
  const dropping = notes({ op: 'drop', once: true });
  while (!engines.running?.requests.some(({ op }) => op === 'drop')) await engines.wait(1);
  engines.crash();
  await expect(dropping).rejects.toMatchObject({
    name: 'CollectionError',
    code: 'answer_lost',
    place: 'notes',
    message: expect.stringContaining('Drop() of "notes"'),
  });
  expect(await collection('notes')(insert('b'))).toBeDefined();
  expect(engines.running?.requests.some(({ op }) => op === 'drop')).toBe(false);
});

test('the next engine opens the same collections, except dropped ones, and watches events', async () => {
  const { collection, link, events } = open();
  const dropped = [collection('a'), collection('a')];
  const kept = collection('b');
  await kept(insert('x'));
  await link.watch(true);
  expect(await dropped[0]?.({ op: 'drop' })).toBe(true);
  const anew = collection('a');
  await anew(count);
  engines.crash();
  expect(await codes([anew(insert('y')), kept(count)])).toEqual(['resolved', 'resolved']);
  expect(await codes(dropped.map((send) => send(count)))).toEqual(
    Array(2).fill('collection_dropped'),
  );
  expect(events.filter(({ type }) => type === 'change').at(-1)).toMatchObject({
    detail: { collection: 'a', changes: [{ id: 'y', kind: 'insert' }] },
  });
});

test('calls wait for an engine that starts slowly', async () => {
  const { collection } = open();
  engines.delay = () => 50;
  const notes = collection('notes');
  const inserted = notes(insert('a'));
  await engines.wait(5);
  await engines.clock.advance(6000);
  await inserted;
  engines.crash();
  const counted = notes(count);
  await engines.wait(5);
  await engines.clock.advance(6000);
  expect(await counted).toBe(1);
});
