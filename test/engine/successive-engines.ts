import { Engine } from '../../src/engine/engine.ts';
import type { Session } from '../../src/engine/sessions/session.ts';
import type { EngineEvent } from '../../src/protocol/event-protocol.ts';
import type { RecoveryRecord } from '../../src/protocol/recovery-records.ts';
import type { Request } from '../../src/protocol/requests.ts';
import { type CollectionSettings, plainSettings } from '../../src/protocol/settings.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import type { FakeClock } from './fake-clock.ts';
import { randomId } from './random-id.ts';

const both = { at: true, timestamp: true };
export const notes: CollectionSettings = {
  ...plainSettings('notes', 'DOCUMENT_BASED'),
  created: both,
  updated: both,
};
export const values = plainSettings('values', 'KEY_VALUE_BASED');

/** The handles of every client. */
export const NOTES = 1;
export const VALUES = 2;
export const opened: RecoveryRecord['opened'] = [
  [NOTES, notes],
  [VALUES, values],
];

/**
 * An engine that takes over what a driver holds, and waits for the replays of the expected clients.
 */
export async function takeOver(
  driver: StorageDriver,
  clock: FakeClock,
  ...expected: string[]
): Promise<Engine> {
  const storage = await driver.open('db', { damaged: () => undefined });
  return new Engine({
    storage,
    storageKind: 'indexeddb',
    durability: 'relaxed',
    clock,
    newId: randomId,
    succession: {
      locked: true,
      stolen: false,
      expected: Promise.resolve(new Set(expected)),
      left: Promise.resolve([]),
      taken: () => undefined,
      forgotten: () => undefined,
    },
  });
}

/** A client of an engine, with its events. */
export function join(engine: Engine, client: string) {
  const events: EngineEvent[] = [];
  const session = engine.join((event) => events.push(event), client);
  session.openAll(opened);
  return { session, events };
}

/** The reply to one request. */
export async function ask(session: Session, request: Request): Promise<any> {
  const { values: answers, failures } = await session.execute([request]);
  for (const error of failures?.values() ?? []) throw error;
  return answers[0];
}
