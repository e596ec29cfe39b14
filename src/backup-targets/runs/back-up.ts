import type { Clock } from '../../async/clock.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import type { TargetCalls } from '../calls/target-calls.ts';
import { type BackupList, isFileOfBackup } from '../content/backup-list.ts';
import type { PartStore } from '../content/part-store.ts';
import { partsOf, type TargetManifest, writeManifest } from '../content/target-manifest.ts';
import type { StoredNote, TargetNotes } from '../content/target-notes.ts';
import { manifestPath, newBackupName } from '../content/target-paths.ts';
import { isSameContent, type UploadProgress, upload } from './upload.ts';

/** What a run has done. */
export interface BackupRun extends UploadProgress {
  /** Of the new backup; of the newest one where nothing had changed. */
  readonly name: string;
  /** Documents of all collections. */
  readonly documents: number;
  /** Whether the newest backup of this device has the same content: then there is no new one. */
  readonly unchanged: boolean;
}

/** Stores the parts that the target lacks, then the manifest, which makes the backup exist. */
export async function backUp(
  db: DatabaseClient,
  own: OwnBackups,
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
  progress: (progress: UploadProgress) => void,
): Promise<BackupRun> {
  const { calls, list, parts, notes, database, device } = own;
  const created_at = Math.max(clock.now(), 0);
  const paths = await list.paths();
  const found = await notes.read();
  const listed = await parts.list();
  const suspect = new Set(found.flatMap(({ unused, damaged }) => [...unused, ...damaged]));
  const { content, documents, ...counts } = await upload(
    await db.exportAll(),
    parts,
    { listed, suspect },
    progress,
  );
  const named = new Set(partsOf({ content }).map(([hash]) => parts.path(hash)));
  // Before the manifest: what it names must not be removed on an older word.
  for (const note of found) if (isOver(note, named, listed)) await notes.remove(note.path);

  const newest = paths.find((path) => path.device === device);
  const last = own.newest.read();
  if (last !== undefined) list.expect({ device, name: last });
  // One that is older than the last run's is no measure: the list lags.
  if (newest && (last === undefined || newest.name >= last)) {
    const read = await list.tryRead(newest);
    if (!isFileOfBackup(read) && isSameContent(read, { content })) {
      own.newest.write(newest.name);
      return { name: newest.name, documents, unchanged: true, ...counts };
    }
  }
  const latest = [paths[0]?.name ?? '', last ?? ''].sort()[1];
  const name = newBackupName(created_at, random, latest || undefined);
  const manifest: TargetManifest = { database: db.name, device, created_at, documents, content };
  await calls.put(manifestPath(database, device, name), await writeManifest(manifest));
  await list.read({ device, name });
  list.expect({ device, name });
  own.newest.write(name);
  return { name, documents, unchanged: false, ...counts };
}

/** Whether a note says nothing that is right any more: its parts were stored again, or are gone. */
function isOver(
  { unused, damaged }: StoredNote,
  named: ReadonlySet<string>,
  listed: ReadonlySet<string>,
): boolean {
  if (unused.length > 0) return unused.some((path) => named.has(path));
  return damaged.every((path) => named.has(path) || !listed.has(path));
}

export interface OwnBackups {
  readonly calls: TargetCalls;
  readonly list: BackupList;
  readonly parts: PartStore;
  readonly notes: TargetNotes;
  /** The name of the newest backup, as this device remembers it: a list may lag behind. */
  readonly newest: { read(): string | undefined; write(name: string): void };
  readonly database: string;
  readonly device: string;
}
