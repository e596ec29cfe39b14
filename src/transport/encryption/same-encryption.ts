import type { EngineStatus } from '../../engine/protocol/event-protocol.ts';
import type { StorageError } from '../../errors/storage-error.ts';
import { keyMissing, notEncrypted } from '../../storage/drivers/encryption-key.ts';
import { type DatabaseSettings, isEncrypted } from '../channel/channel.ts';

/** Why a client must not use an engine: what its page writes as it ends would not be as the database is. */
export function refusesEngine(
  settings: DatabaseSettings,
  { encrypted }: EngineStatus,
): StorageError | undefined {
  // Of an older version, in another tab.
  if (encrypted === undefined || encrypted === isEncrypted(settings)) return undefined;
  return encrypted ? keyMissing() : notEncrypted();
}
