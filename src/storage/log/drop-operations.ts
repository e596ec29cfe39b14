import type { Storage, StorageOperation } from '../drivers/driver.ts';
import { deletionsOf } from '../segments/segment-writer.ts';
import { type Manifest, noManifest, putManifest } from './manifest.ts';

/** A backup that outlives its collection. */
export interface LeftBackup {
  /** What stores it. */
  readonly snapshot: StorageOperation;
  /** The segments that it names. */
  readonly segments: ReadonlySet<number>;
}

/**
 * What removes a collection with all it has in storage. A tombstone stays where a backup is left, or marks: a page that
 * rests meanwhile hands its changes on when it is back, and they must not be made in what has the name by then.
 *
 * @param empty A manifest without segments.
 * @param keptUntil Until when its marks are of use, in Unix milliseconds.
 */
export async function dropOperations(
  storage: Storage,
  empty: Manifest,
  keptUntil: number,
  left: LeftBackup | undefined,
): Promise<StorageOperation[]> {
  const { name, watermarks } = empty;
  const snapshots = removeAll('snapshots', name);
  if (left) {
    const stored = await storage.keys('segments', [name]);
    const gone = stored.filter(([, number]) => !left.segments.has(number as number));
    const tombstone: Manifest = { ...empty, dropped: true };
    return [snapshots, left.snapshot, ...deletionsOf(gone), putManifest(tombstone)];
  }
  const tombstone: Manifest = { ...empty, dropped: true, kept_until: keptUntil };
  return [
    snapshots,
    removeAll('segments', name),
    removeAll('bodies', name),
    watermarks ? putManifest(tombstone) : noManifest(name),
  ];
}

function removeAll(store: 'snapshots' | 'segments' | 'bodies', name: string): StorageOperation {
  return { type: 'deletePrefix', store, prefix: [name] };
}
