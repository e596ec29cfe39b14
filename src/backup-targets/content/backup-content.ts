import { gzip } from '../../backup/file/gzip.ts';
import { AT_ONCE, inParallel, type TargetError } from '../calls/target-calls.ts';
import { isFileOfBackup } from './backup-list.ts';
import type { PartStore } from './part-store.ts';
import { partsOf, type TargetManifest } from './target-manifest.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes that are gathered before they become a Blob, which browsers keep on the disk. */
const BLOB_PIECE = 4 * 2 ** 20;

/**
 * The lines of a backup, each part checked, read a few ahead.
 *
 * @throws {TargetError} `target_damaged` …
 */
async function* readContent(
  { content }: TargetManifest,
  parts: PartStore,
): AsyncGenerator<Bytes, void> {
  const encoder = new TextEncoder();
  const ahead: Promise<Bytes>[] = [];
  const begin = (at: number): void => {
    const piece = content[at];
    if (piece === undefined) return;
    const bytes =
      typeof piece === 'string' ? Promise.resolve(encoder.encode(piece)) : parts.get(piece);
    // Awaited later: a failure must not count as unhandled until then.
    bytes.catch(() => undefined);
    ahead.push(bytes as Promise<Bytes>);
  };
  for (let at = 0; at < AT_ONCE; at++) begin(at);
  for (let at = AT_ONCE; ahead.length > 0; at++) {
    const bytes = await (ahead.shift() as Promise<Bytes>);
    begin(at);
    yield bytes;
  }
}

/**
 * Makes the file of a backup. All of it is there before an import begins, which other calls wait
 * for.
 *
 * @param progress Called with the bytes so far, before compression.
 */
export async function downloadFile(
  manifest: TargetManifest,
  parts: PartStore,
  progress: (bytes: number) => void,
): Promise<Blob> {
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Bytes, void> {
    for await (const piece of readContent(manifest, parts)) {
      bytes += piece.length;
      progress(bytes);
      yield piece;
    }
  };
  const blobs: Blob[] = [];
  let pieces: Bytes[] = [];
  let size = 0;
  for await (const piece of gzip(counted())) {
    pieces.push(piece);
    size += piece.length;
    if (size < BLOB_PIECE) continue;
    blobs.push(new Blob(pieces));
    pieces = [];
    size = 0;
  }
  return new Blob([...blobs, ...pieces], { type: 'application/gzip' });
}

/** Downloads and checks all parts of a backup. @returns what is wrong with each that is damaged. */
export async function damageOf(manifest: TargetManifest, parts: PartStore): Promise<TargetError[]> {
  const each = new Map(partsOf(manifest).map((part) => [part[0], part]));
  const found = await inParallel([...each.values()], (part) =>
    parts.get(part).then(
      () => [],
      (error: unknown) => {
        if (isFileOfBackup(error)) return [error];
        throw error;
      },
    ),
  );
  return found.flat();
}
