import { isPlainObject } from '../../codec/kinds.ts';
import type { CairnError } from '../../errors/errors.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import type { RemoteFile } from './remote.ts';

/** A file that a document names. */
export interface FileRef {
  /** Hexadecimal, in small letters. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  /** MIME type; `''` if not known. */
  readonly type: string;
  /**
   * Where the server cannot read files: the id of the key, a dot, and the SHA-256 of what the
   * server has.
   */
  readonly sealed?: string | undefined;
}

/** What a document has in the place of a file. */
export interface FilePlaceholder {
  readonly $file: FileRef;
}

/** How far a file has come. */
export interface FileProgress {
  readonly sha256: string;
  readonly direction: 'up' | 'down';
  /** Bytes so far. */
  readonly bytes: number;
  readonly size: number;
}

/** Files that wait, in this page. */
export interface FilesStatus {
  /** Files that documents wait for, as the server does not have them yet. */
  readonly uploads: number;
  /** Files that are being loaded, or wait for it. */
  readonly downloads: number;
  /**
   * Why files that come by themselves are not loaded for now, such as `storage_full`. Tried again
   * later; left out once they are.
   */
  readonly error?: CairnError | undefined;
}

/** The option `files` with its defaults. */
export interface FilesSettings {
  readonly load: 'lazy' | 'eager';
  readonly above: number;
  readonly limit: number;
  /** Whether documents may leave the device, and stay on the server with their files. */
  readonly leaves?: boolean;
}

type Document = object | null | undefined;

/** The files of documents, as a round sees them. */
export interface RoundFiles {
  /** The ids of documents that wait until their files are on the server. */
  waiting(): Iterable<string>;
  /** Documents have come: their files follow, where they are to. */
  incoming(documents: readonly Document[]): Promise<void>;
  /** The server has documents, and so keeps the files that they name. */
  named(documents: readonly Document[]): Promise<void>;
  /** Whether a document can be pushed: a reason, if never; `false`: it waits for its files. */
  verdict(id: string, document: Document): boolean | string;
  /** Sends the files of a document again that the server lacks. @returns whether it will. */
  resend(document: Document): Promise<boolean>;
  /** Whether a push of a document may send files with it: those that its base does not name. */
  isHeavy(document: Document, baseOf: () => Document): boolean;
  /** The content of a file, from the server where it is not here; `undefined` if it is nowhere. */
  content(file: RemoteFile): Promise<Blob | undefined>;
  /** What proves to the server that this device has a file; `undefined` for one without files. */
  deviceFor(document: Document): string | undefined;
}

/** Frees bytes at once: the collector would let dozens of photos lie. */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  // Others may use the rest of a buffer, as in Node. Browsers before 2024 have no such function.
  if (byteLength === buffer.byteLength)
    (buffer as { transfer?: (length: number) => unknown }).transfer?.(0);
}

/** The two parts of {@link FileRef.sealed}; none for a file that has no such name. */
export function sealedName({ sealed = '' }: Pick<FileRef, 'sealed'>) {
  const [, key, sha256] = /^([\da-f]{16})\.([\da-f]{64})$/.exec(sealed) ?? [];
  return { key, sha256 };
}

/** What tells a file from others on the server. */
export const serverName = ({ sha256, sealed = sha256 }: FileRef): string => sealed;

export function damaged({ sha256 }: Pick<FileRef, 'sha256'>, why: string): ReplicationError {
  const message = `The file ${sha256} is not what its document says: ${why} Nothing of it is kept.`;
  return new ReplicationError('file_damaged', message, { place: sha256 });
}

/** The file that a value stands for; `undefined` if it is another one. Anybody may have made it. */
export function refOf(value: unknown): FileRef | undefined {
  if (!isPlainObject(value)) return undefined;
  const { $file, ...others } = value as Record<string, unknown>;
  if (!isPlainObject($file) || Object.keys(others).length > 0) return undefined;
  const { sha256, size, type, sealed } = $file as Record<string, unknown>;
  if (typeof sha256 !== 'string' || !/^[\da-f]{64}$/.test(sha256)) return undefined;
  if (!Number.isSafeInteger(size) || (size as number) < 0) return undefined;
  const ref = { sha256, size: size as number, type: typeof type === 'string' ? type : '' };
  const isSealed = typeof sealed === 'string' && sealedName({ sealed }).key;
  return isSealed ? { ...ref, sealed } : ref;
}

export function refsIn(value: unknown, found: FileRef[] = []): FileRef[] {
  if (typeof value !== 'object' || value === null) return found;
  const ref = refOf(value);
  if (ref) found.push(ref);
  else if (Array.isArray(value) || isPlainObject(value))
    for (const inner of Object.values(value)) refsIn(inner, found);
  return found;
}

/** The content of a file that is still in a document; `undefined` if a value is none. */
export function contentOf(value: unknown, above: number): Blob | undefined {
  if (value instanceof Blob) return value;
  const isBytes = value instanceof ArrayBuffer || ArrayBuffer.isView(value);
  if (!isBytes || (value as ArrayBuffer).byteLength <= above) return undefined;
  return new Blob([value as ArrayBuffer]);
}

/** How much of a document is content that goes into files. */
export function countContent(value: unknown, above: number): number {
  if (contentOf(value, above)) return 1;
  const isInside = Array.isArray(value) || isPlainObject(value);
  if (!isInside) return 0;
  return Object.values(value as object).reduce((sum, one) => sum + countContent(one, above), 0);
}

/**
 * A copy of a value with placeholders in place of content.
 *
 * @param keep Gets placeholders, too.
 */
export async function withoutContent(
  value: unknown,
  above: number,
  keep: (content: Blob | FileRef) => Promise<FileRef>,
): Promise<unknown> {
  const content = contentOf(value, above) ?? refOf(value);
  if (content) {
    const ref = await keep(content);
    return ref === content ? value : { $file: ref };
  }
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    // One after the other: they need not be in memory together.
    for (const item of value) items.push(await withoutContent(item, above, keep));
    return items;
  }
  if (!isPlainObject(value)) return value;
  const fields: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value as object))
    fields.push([name, await withoutContent(inner, above, keep)]);
  return Object.fromEntries(fields);
}
