import type { TargetManifest } from '../manifest/target-manifest.ts';

/** The documents of a section, by its header; 0 for another framing line. */
export function documentsIn(line: string): number {
  const { collection, documents } = JSON.parse(line) as {
    collection?: string;
    documents?: number;
  };
  return collection === undefined ? 0 : (documents ?? 0);
}

/** Whether two backups hold the same: but for the time, and the checksums that it is part of. */
export function isSameContent(
  one: Pick<TargetManifest, 'content'>,
  other: Pick<TargetManifest, 'content'>,
): boolean {
  return (
    one.content.length === other.content.length &&
    one.content.every((piece, at) => isSamePiece(piece, other.content[at]))
  );
}

type Piece = TargetManifest['content'][number];

function isSamePiece(one: Piece, other: Piece | undefined): boolean {
  if (typeof one === 'string' && typeof other === 'string')
    return timeless(one) === timeless(other);
  return JSON.stringify(one) === JSON.stringify(other);
}

function timeless(line: string): string {
  const { created_at: _, crc32: __, version: ___, ...rest } = JSON.parse(line);
  return JSON.stringify(rest);
}
