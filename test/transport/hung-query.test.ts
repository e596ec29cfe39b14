import { expect, test } from 'vitest';
import type { Ask } from '../../src/collection/exchange.ts';
import type { EngineEvent, Request } from '../../src/engine/protocol.ts';
import { WorkerError } from '../../src/errors/worker-error.ts';
import type { Channel } from '../../src/transport/channel.ts';
import { Link, type LinkState } from '../../src/transport/link.ts';
import { RestartingChannel } from '../../src/transport/restarting-channel.ts';
import { HangingEngines } from './hanging-engines.ts';

function open(engines = new HangingEngines()) {
  const states: LinkState[] = [];
  const events: EngineEvent[] = [];
  const link = new Link(
    { name: 'hung', storage: undefined, durability: 'relaxed' },
    (_, channelEvents) => RestartingChannel.start(engines.begin, channelEvents) as Promise<Channel>,
    { event: (event) => events.push(event), state: (state) => states.push(state) },
  );
  /** A handle to a collection, by which requests are made. */
  const collection = (name: string) => {
    const handle = link.takeHandle();
    const send = (ask: Ask) => link.send({ ...ask, handle } as Request);
    send({ op: 'open', settings: { name } as never }).catch(() => undefined);
    return send;
  };
  return { engines, link, states, events, collection };
}

const hang = { op: 'count', criteria: { hang: true }, risky: true } as const;
const codes = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map((result) =>
    result.status === 'rejected' ? result.reason.code : 'resolved',
  );

test('a call that hangs is told by its error, an error event and the states of the link', async () => {
  const { collection, states, events } = open();
  const notes = collection('notes');
  await expect(notes(hang)).rejects.toMatchObject({
    name: 'WorkerError',
    code: 'query_hung',
    place: 'notes',
    cause: { code: 'worker_unresponsive' },
  });
  expect(await notes({ op: 'count' })).toEqual([]);
  expect(states).toEqual(['opening', 'open', 'opening', 'open']);
  expect(events.filter(({ type }) => type === 'error')).toMatchObject([
    { detail: { collection: 'notes', error: { code: 'query_hung' } } },
  ]);
});

test('another worker opens the same collections, but none that was dropped, and watches', async () => {
  const { collection, engines, link } = open();
  const dropped = [collection('a'), collection('a')];
  const kept = collection('b');
  await kept({ op: 'ready' });
  await link.channel?.watch(true);
  expect(await dropped[0]?.({ op: 'drop', enabled: true })).toBe(true);
  const anew = collection('a');
  expect(await codes([kept(hang), anew({ op: 'count' }), kept({ op: 'count' })])).toEqual([
    'query_hung',
    'resolved',
    'resolved',
  ]);
  const [, second] = engines.channels;
  expect(second?.watching).toBe(true);
  expect(second?.asked.filter(({ op }) => op === 'open')).toMatchObject([
    { handle: 3, settings: { name: 'b' } },
    { handle: 4, settings: { name: 'a' } },
  ]);
  expect(await codes(dropped.map((send) => send({ op: 'count' })))).toEqual([
    'unexpected',
    'unexpected',
  ]);
});

test('where data is in memory only, or cannot be saved, a worker that hangs is lost with all calls', async () => {
  for (const spoil of [
    (engines: HangingEngines) => {
      engines.storage = 'memory';
    },
    (engines: HangingEngines) => {
      engines.failSaves = true;
    },
  ]) {
    const { collection, engines, link } = open();
    spoil(engines);
    const notes = collection('notes');
    await notes({ op: 'insert', id: 'a', body: '' });
    const calls = [notes(hang), notes({ op: 'count' }), link.save()];
    expect(await codes(calls)).toEqual(Array(3).fill('worker_unresponsive'));
    expect(link.state).toBe('failed');
    expect(engines.channels).toHaveLength(1);
  }
});

test('a pattern that ends is answered although saving fails', async () => {
  const { collection, engines } = open();
  engines.failSaves = true;
  const notes = collection('notes');
  await notes({ op: 'insert', id: 'a', body: '' });
  expect(await notes({ op: 'count', risky: true })).toEqual(['a']);
});

test('everything is saved before a risky call only if something changed', async () => {
  const { collection, engines } = open();
  let saves = 0;
  const notes = collection('notes');
  await notes({ op: 'ready' });
  const [channel] = engines.channels;
  const save = channel?.save.bind(channel);
  const counted = () => {
    saves++;
    return save?.();
  };
  Object.assign(channel as object, { save: counted });
  const risky = { op: 'count', risky: true } as const;
  await notes(risky);
  expect(saves).toBe(0);
  await notes({ op: 'insert', id: 'a', body: '' });
  await notes(risky);
  await notes(risky);
  expect(saves).toBe(1);
});

test('where no other worker can be had, everything that waits rejects with that', async () => {
  const { collection, engines, link } = open();
  engines.left = 1;
  const notes = collection('notes');
  await notes({ op: 'ready' });
  const calls = [notes(hang), notes({ op: 'count' }), link.save(), link.close()];
  expect(await codes(calls)).toEqual(['query_hung', ...Array(3).fill('worker_start_failed')]);
  expect(link.state).toBe('failed');
  expect(await codes([notes({ op: 'count' })])).toEqual(['worker_start_failed']);
});

test('a database that comes back in memory only is not gone on with', async () => {
  const { collection, engines, link } = open();
  const notes = collection('notes');
  await notes({ op: 'insert', id: 'a', body: '' });
  engines.storage = 'memory';
  expect(await codes([notes(hang), notes({ op: 'count' })])).toEqual([
    'query_hung',
    'storage_unavailable',
  ]);
  expect(engines.channels[1]?.closed).toBe(true);
  expect(link.state).toBe('failed');
});

test('a worker that fails during a risky call, or after a restart, is lost as any', async () => {
  for (const hangs of [0, 1]) {
    const { collection, engines } = open();
    const notes = collection('notes');
    for (let left = hangs; left > 0; left--) await notes(hang).catch(() => undefined);
    await notes({ op: 'ready' });
    const calls = [notes({ op: 'count', risky: true }), notes({ op: 'count' })];
    await Promise.resolve();
    engines.channels.at(-1)?.fail(new WorkerError('worker_lost', 'Out of memory.'));
    expect(await codes(calls)).toEqual(['worker_lost', 'worker_lost']);
  }
});
