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
    let isUnread = false;
    const journals = encryption.readJournals(name).catch((): RecoveryRecord[] => {
      isUnread = true;
      return [];
    });
    const engine = await start({ ...term, journals }, events);
    const replay = () =>
      encryption.readJournals(name).then(engine.replayJournals, (error: unknown) => {
        console.warn(
          `cairndb cannot read the unload journals of "${name}" (${error}). They stay in localStorage; the next opening reads them.`,
        );
      });
    // By then the database is open, with its key.
    void journals.then(() => (isUnread ? replay() : undefined));
    return { ...engine, replayJournals: () => void replay() };
  };
}
