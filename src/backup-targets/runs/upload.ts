import { TargetError } from '../calls/target-error.ts';
import { TaskPool } from '../calls/task-pool.ts';
import { exportedPieces } from '../content/exported-pieces.ts';
import type { PartRef, PartStore } from '../content/part-store.ts';
import { sha256 } from '../content/sha256.ts';
import { documentsIn } from './framing.ts';

/** How far a run is. */
export interface UploadProgress {
  /** Bytes of new parts so far, before compression. */
  readonly uploaded_bytes: number;
  /** Bytes of parts so far that were in the target already. */
  readonly reused_bytes: number;
  /** What was sent: the new parts, compressed. */
  readonly sent_bytes: number;
}

export interface Uploaded extends UploadProgress {
  readonly content: readonly (string | PartRef)[];
  readonly documents: number;
}

/** What a target has, as far as it says. */
export interface Reusable {
  /** Paths that it lists. */
  readonly listed: ReadonlySet<string>;
  /** Paths that are not to be used again: damaged parts, and those that may be removed. */
  readonly suspect: ReadonlySet<string>;
}

/**
 * Stores the parts of an export that a target lacks, a few at a time.
 *
 * @throws {TargetError}; errors of the export.
 */
export async function upload(
  file: ReadableStream<Uint8Array>,
  parts: PartStore,
  { listed, suspect }: Reusable,
  progress: (progress: UploadProgress) => void,
): Promise<Uploaded> {
  const sent = new Set<string>();
  const content: (string | PartRef)[] = [];
  const counts = { uploaded_bytes: 0, reused_bytes: 0, sent_bytes: 0 };
  const pool = new TaskPool();
  let documents = 0;
  try {
    for await (const piece of exportedPieces(file)) {
      if ('text' in piece) {
        content.push(piece.text);
        documents += documentsIn(piece.text);
        continue;
      }
      const { part } = piece;
      const hash = await sha256(part);
      content.push([hash, part.length]);
      const path = parts.path(hash);
      if (sent.has(path) || (listed.has(path) && !suspect.has(path))) {
        counts.reused_bytes += part.length;
        progress({ ...counts });
        continue;
      }
      sent.add(path);
      await pool.add(async () => {
        const length = await parts.put(hash, part);
        counts.sent_bytes += length;
        counts.uploaded_bytes += part.length;
        progress({ ...counts });
      });
    }
  } finally {
    // No call begins any more once this has settled; one that was given up may still run in the target.
    await pool.end();
  }
  await checkAllThere(content, parts);
  return { ...counts, content, documents };
}

/**
 * A copy of this browser profile, say, has the same name and may have removed a part meanwhile. A list that lags is no reason
 * to fail: what it leaves out is read.
 */
async function checkAllThere(
  content: readonly (string | PartRef)[],
  parts: PartStore,
): Promise<void> {
  const listed = await parts.list();
  for (const piece of content) {
    if (typeof piece === 'string' || listed.has(parts.path(piece[0]))) continue;
    if (await parts.has(piece[0])) continue;
    const message = `The target lost a part that was stored (${piece[0]}). Run the backup again.`;
    throw new TargetError('target_damaged', message, { place: piece[0] });
  }
}
