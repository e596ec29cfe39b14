import type { RecoveryRecord } from '../engine/recovery/recovery-records.ts';
import { openPageRecord } from '../storage/encryption/page-records.ts';
import { readKept } from '../transport/platform/page-store.ts';
import { journalKeys, SEALED_JOURNAL } from '../transport/unload/unload-journal.ts';
import type { PageKeys } from './page-keys.ts';

/**
 * Opens the unload journals of a database. Those that do not open stay: they may be of another key. Journals in clear do
 * not count: without the key anybody could have written them.
 *
 * @throws {StorageError} `key_wrong`, or where the keys of the database cannot be read.
 */
export async function openJournals(name: string, keys: PageKeys): Promise<RecoveryRecord[]> {
  const sealed = journalKeys(name).flatMap((key) => {
    const text = readKept(key);
    return text?.startsWith(SEALED_JOURNAL) ? [{ key, text }] : [];
  });
  if (sealed.length === 0) return [];
  const { pages } = await keys.dataKeys(name);
  const opened = await Promise.all(
    sealed.map(async ({ key, text }) => {
      const [, client, ending] = JSON.parse(key.slice(key.indexOf('['))) as JournalName;
      const lines = text.slice(SEALED_JOURNAL.length);
      try {
        return [(await openPageRecord(pages, [client, ending], lines)) as RecoveryRecord];
      } catch {
        console.warn(
          `cairndb does not open an unload journal of "${name}" in localStorage: it is damaged, or of another key.`,
        );
        return [];
      }
    }),
  );
  return opened.flat();
}

type JournalName = [database: string, client: string, ending: number];
