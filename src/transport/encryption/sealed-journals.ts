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
    const reading = encryption.readJournals(name);
    const journals = reading.catch((): RecoveryRecord[] => []);
    const begin = () => start({ ...term, journals }, events);
    const engine = await begin().catch(async (error: { code?: string }) => {
      if (error.code === 'key_wrong' && (await encryption.isOutdated(name))) return begin();
      throw error;
    });
    const replay = () =>
      encryption.readJournals(name).then(engine.replayJournals, (error: unknown) => {
        console.warn(
          `cairndb cannot read the unload journals of "${name}" (${error}). They stay in localStorage; the next opening reads them.`,
        );
      });
    // Now the database is open, with its key.
    void reading.catch(replay);
    return { ...engine, replayJournals: () => void replay() };
  };
}
