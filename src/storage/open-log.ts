import { StorageError } from '../errors/storage-error.ts';
import type { Storage } from './driver.ts';
import { FORMAT, type Manifest } from './manifest.ts';
import type { Segment } from './segment.ts';

/** Segments read in one request while opening: about 2 MB. */
const READ_AHEAD = 100;

/** The manifest of a collection, `undefined` where there is none. */
export async function readManifest(storage: Storage, name: string): Promise<Manifest | undefined> {
  const [manifest] = (await storage.getMany('collections', [[name]])) as [Manifest | undefined];
  if (manifest && manifest.format > FORMAT) {
    throw new StorageError(
      'format_newer',
      `Collection "${name}" was written in format ${manifest.format}; this version of cairndb knows ${FORMAT}. Update this app.`,
      { place: name },
    );
  }
  return manifest;
}

/**
 * Hands over the live segments, lowest number first. While some are folded the next are being read.
 *
 * @throws {StorageError} `data_damaged` when one is missing.
 */
export async function readSegments(
  storage: Storage,
  { name, segments: named, next }: Manifest,
  take: (segment: Segment) => void,
): Promise<void> {
  const wanted = new Set(named);
  const seen = new Set<number>();
  const read = (after: number) =>
    storage.list('segments', { prefix: [name], after: [name, after], limit: READ_AHEAD });
  let chunk = read(0);
  for (;;) {
    const segments = (await chunk) as Segment[];
    const last = segments.at(-1);
    if (!last) break;
    chunk = read(last.number);
    // Awaited on the next turn; until then a failure must not count as unhandled.
    chunk.catch(() => undefined);
    for (const segment of segments) {
      const { number, after } = segment;
      // Below `next` the manifest decides; what it does not name was replaced.
      if (number < next && !wanted.has(number)) continue;
      if (number >= next && after >= next && !seen.has(after)) throw segmentLost(name, after);
      seen.add(number);
      take(segment);
    }
  }
  for (const number of named) if (!seen.has(number)) throw segmentLost(name, number);
}

export function segmentLost(name: string, number: number): StorageError {
  return new StorageError(
    'data_damaged',
    `Segment ${number} of collection "${name}" is missing from storage, so documents are lost. ` +
      'Restore the data, or Drop() the collection to start anew.',
    { place: name },
  );
}
