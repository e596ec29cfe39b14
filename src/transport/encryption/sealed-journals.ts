import type { RecoveryRecord } from '../../engine/recovery/recovery-records.ts';
import type { StartEngine } from '../leadership/leadership.ts';
import type { ClientEncryption } from './client-encryption.ts';

/** As `start`, for an encrypted database: the journals of pages that ended are sealed. Others do not count. */
export function openingJournals(
  start: StartEngine,
  name: string,
  encryption: ClientEncryption,
): StartEngine {
  return async (term, events) => {
    // A database that is not open yet may have none: its own failure is reported.
    const journals = encryption.readJournals(name).catch((): RecoveryRecord[] => []);
    const engine = await start({ ...term, journals }, events);
    return {
      ...engine,
      replayJournals: (found) =>
        void encryption.readJournals(name).then(
          (opened) => engine.replayJournals(opened),
          // They stay, for the next engine.
          () => found.length,
        ),
    };
  };
}
