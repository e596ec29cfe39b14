import { StorageError } from '../../errors/errors.ts';
import type { Storage } from '../drivers/driver.ts';
import { manifestLost } from '../segments/lost-data.ts';
import { READ_AHEAD } from '../segments/read-segments.ts';
import { lastSegmentKey, lastSegmentOf, readSegment } from '../segments/stored-segment.ts';
import type { Manifest } from './manifest.ts';
import { checkManifest, readManifest } from './open-log.ts';

/** The same; `undefined` where it is damaged, too. */
export async function findManifest(storage: Storage, name: string): Promise<Manifest | undefined> {
  try {
    return await readManifest(storage, name);
  } catch (error) {
    if (error instanceof StorageError && error.code === 'data_damaged') return undefined;
    throw error;
  }
}

/**
 * The manifests of all collections, dropped ones included.
 *
 * @param damaged Called with the errors of those that are missing or cannot be read.
 */
export async function listManifests(
  storage: Storage,
  damaged: (error: StorageError) => void,
): Promise<Manifest[]> {
  // In this order: a collection that is made meanwhile has a manifest.
  const segments = await storage.keys('segments', []);
  const keys = await storage.keys('collections', []);
  const values = await storage.getMany('collections', keys);
  const suspects = new Set(segments.map(([name]) => name as string));
  for (const [name] of keys) suspects.delete(name as string);
  for (const name of suspects) {
    // It may have been dropped meanwhile.
    const left = await storage.keys('segments', [name]);
    if (left.length > 0) damaged(manifestLost(name));
  }
  return values.flatMap((value, index) => {
    try {
      return checkManifest(keys[index]?.[0] as string, value) ?? [];
    } catch (error) {
      damaged(error as StorageError);
      return [];
    }
  });
}

/** The numbers of the live segments, in ascending order, missing ones included. */
export async function listLive(
  storage: Storage,
  name: string,
  manifest: Manifest | undefined,
): Promise<number[]> {
  const { segments: named = [], next = 1 } = manifest ?? {};
  const keys = await storage.keys('segments', [name]);
  const later = keys.filter(([, number]) => (number as number) >= next);
  const live = new Set(named);
  for (let from = 0; from < later.length; from += READ_AHEAD) {
    const some = later.slice(from, from + READ_AHEAD);
    const segments = await storage.getMany('segments', some);
    for (const [index, [, key]] of some.entries()) {
      const number = key as number;
      if (!readSegment(name, number, segments[index])?.segment.staged) live.add(number);
    }
  }
  const [noted] = await storage.getMany('bodies', [lastSegmentKey(name)]);
  const last = lastSegmentOf(name, noted);
  if (last >= next) live.add(last);
  return [...live].sort((a, b) => a - b);
}
