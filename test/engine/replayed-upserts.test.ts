import { expect, test } from 'vitest';
import type { Session } from '../../src/engine/sessions/session.ts';
import { ReplayBuffer } from '../../src/page/connection/replay.ts';
import type { Request } from '../../src/protocol/requests.ts';
import { type CollectionSettings, plainSettings } from '../../src/protocol/settings.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { FakeClock } from './fake-clock.ts';
import { takeOver } from './successive-engines.ts';

const HANDLE = 1;
const stamp = { at: true, timestamp: false };
const none = { at: false, timestamp: false };

/** A client of an engine with empty storage. */
async function join(settings: CollectionSettings, clock: FakeClock): Promise<Session> {
  const engine = await takeOver(memoryDriver(), clock, 'client');
  const session = engine.join(() => undefined, 'client');
  session.openAll([[HANDLE, settings]]);
  return session;
}

const scan: Request = { op: 'scan', handle: HANDLE, archived: true, all: true };
const contents = async (session: Session) => (await session.execute([scan])).values;

/**
 * What engines hold: one that has upserted documents in parts, and one that gets the same changes
 * by replay.
 */
async function replayed(stamps: Partial<CollectionSettings>, parts: readonly string[][]) {
  const clock = new FakeClock();
  const settings = { ...plainSettings('notes', 'DOCUMENT_BASED'), ...stamps };
  const [session, next] = [await join(settings, clock), await join(settings, clock)];
  await session.replay([]);
  const buffer = new ReplayBuffer();
  let number = 0;
  const change = async (request: Request): Promise<void> => {
    const first = [[HANDLE, ++number]] as const;
    buffer.note([request], first, await session.execute([request], first));
  };
  await change({ op: 'insert', handle: HANDLE, id: 'a', body: '{"n":0}' });
  clock.jump(1000);
  let from = 0;
  for (const [index, ids] of parts.entries()) {
    const bodies = ids.map((_, at) => JSON.stringify({ n: from + at + 1 }));
    const last = index === parts.length - 1;
    const sent = { op: 'insertPart', handle: HANDLE, call: 7, upsert: true } as const;
    await change({ ...sent, from, last, ids, bodies });
    from += ids.length;
  }
  clock.jump(1000);
  await next.replay(buffer.all());
  return [await contents(session), await contents(next)];
}

test.each([
  ['one part', [['a', 'b', 'c', 'd']]],
  [
    'several parts',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
])('a replayed upsertMany of %s makes the same documents', async (_, parts) => {
  for (const created of [none, stamp]) {
    for (const updated of [none, stamp]) {
      const [made, again] = await replayed({ created, updated }, parts);
      expect(again).toEqual(made);
    }
  }
});
