import type { DatabaseClient } from '../../client/database-client.ts';
import type { Clock } from '../../engine/scheduling/clock.ts';
import { TargetError } from '../calls/target-error.ts';
import type { TargetManifest } from '../manifest/target-manifest.ts';
import { writeManifest } from '../manifest/target-manifest.ts';
import { manifestPath, newBackupName } from '../manifest/target-paths.ts';
import type { OwnBackups } from './expire-backups.ts';
import { isSameContent } from './framing.ts';
import { type UploadProgress, upload } from './upload.ts';

/** What a run has done. */
export interface BackupRun extends UploadProgress {
  /** Of the new backup; of the newest one where nothing had changed. */
  readonly name: string;
  /** Documents of all collections. */
  readonly documents: number;
  /** Whether the newest backup of this device has the same content: then there is no new one. */
  readonly unchanged: boolean;
}

/** Backs up a database: the parts that the target lacks, then the manifest, which makes the backup exist. */
export async function backUp(
  db: DatabaseClient,
  own: OwnBackups,
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
  progress: (progress: UploadProgress) => void,
): Promise<BackupRun> {
  const { calls, list, parts, database, device } = own;
  const created_at = clock.now();
  const { content, documents, ...counts } = await upload(await db.exportAll(), parts, progress);
  const newest = await readNewest(own);
  if (newest && isSameContent(newest.manifest, { content }))
    return { name: newest.name, documents, unchanged: true, ...counts };
  const name = newBackupName(created_at, random);
  const manifest = { database: db.name, device, created_at, documents, content };
  await calls.put(manifestPath(database, device, name), await writeManifest(manifest));
  await list.read({ device, name });
  return { name, documents, unchanged: false, ...counts };
}

/** The newest backup of this device, if it can be read. */
async function readNewest({
  list,
  device,
}: OwnBackups): Promise<{ readonly name: string; readonly manifest: TargetManifest } | undefined> {
  const [path] = await list.paths(device);
  if (!path) return undefined;
  try {
    return { name: path.name, manifest: await list.read(path) };
  } catch (error) {
    // A damaged one is as good as none; a target that cannot be reached is not.
    if (error instanceof TargetError && error.code !== 'target_unreachable') return undefined;
    throw error;
  }
}
