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
 * Reads a collection: its manifest, then the live segments, lowest number first. While some are folded the
 * next are being read.
 *
 * @param begin Called with the manifest, before any segment.
 * @returns the manifest, `undefined` where there is no such collection.
 * @throws {StorageError} `data_damaged` when a segment is missing.
 */
export async function readLog(
  storage: Storage,
  name: string,
  begin: (manifest: Manifest) => void,
  take: (segment: Segment) => void,
): Promise<Manifest | undefined> {
  const read = (after: number): Promise<unknown[]> => {
    const reading = storage.list('segments', {
      prefix: [name],
      after: [name, after],
      limit: READ_AHEAD,
    });
    // Awaited in a later turn; until then a failure must not count as unhandled.
    reading.catch(() => undefined);
    return reading;
  };
  // Asked for at once: what they mean is known by the time they are there.
  let chunk: Promise<unknown[]> | undefined = read(0);
  const manifest = await readManifest(storage, name);
  if (!manifest) return undefined;
  begin(manifest);
  const { segments: named, next } = manifest;
  const wanted = new Set(named);
  const seen = new Set<number>();
  while (chunk) {
    const segments = (await chunk) as Segment[];
    const last = segments.at(-1);
    chunk = last && segments.length === READ_AHEAD ? read(last.number) : undefined;
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
  return manifest;
}

export function segmentLost(name: string, number: number): StorageError {
  return new StorageError(
    'data_damaged',
    `Segment ${number} of collection "${name}" is missing from storage, so documents are lost. ` +
      'Restore the data, or Drop() the collection to start anew.',
    { place: name },
  );
}
