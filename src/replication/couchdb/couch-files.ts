import { toHex } from '../../codec/exact-json/base64.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { type FileRef, refsIn } from '../protocol/files.ts';
import type { LocalChange, RemoteFile } from '../protocol/remote.ts';
import type { CouchEdit } from './couch-documents.ts';

/** Files are attached under their SHA-256. */
const OWN_NAME = /^[\da-f]{64}$/;

const TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;

/** CouchDB compresses these, and then answers no ranges: of a large one, each part would be all. */
const COMPRESSED = /^text\/|json|javascript|xml/;
const LARGE = 1024 * 1024;

/** A file that is sent with its document. */
export interface AttachedFile extends Pick<FileRef, 'sha256' | 'type'> {
  readonly content: Blob;
}

/** What a document is to have attached. */
export interface Attachments {
  readonly sent: readonly AttachedFile[];
  /** `_attachments` of the document; `undefined`: none. */
  readonly field: object | undefined;
  /** Why it cannot be sent. */
  readonly damage?: string;
}

type ContentOf = (file: RemoteFile) => Promise<Blob | undefined>;

/**
 * The attachments of a document: those of other programs stay, and so do files that it still names.
 * One that is nowhere is left out: a program that knows nothing of attachments may have removed it.
 *
 * @param present The stubs of the state that it derives from.
 */
export async function attachmentsOf(
  { document }: LocalChange,
  present: unknown,
  contentOf: ContentOf | undefined,
): Promise<Attachments> {
  const named = new Map(refsIn(document).map((ref) => [ref.sha256, ref]));
  const stubs = isPlainObject(present) ? Object.entries(present as object) : [];
  const field = new Map<string, object>(
    stubs.filter(([name]) => named.has(name) || !OWN_NAME.test(name)),
  );
  const sent: AttachedFile[] = [];
  for (const ref of named.values()) {
    if (field.has(ref.sha256)) continue;
    const content = await contentOf?.(ref).catch((error: unknown) => {
      if (error instanceof ReplicationError && error.code === 'file_damaged') return error.message;
      throw error;
    });
    if (typeof content === 'string') return { sent: [], field: undefined, damage: content };
    if (content?.size !== ref.size) continue;
    const type = typeOf(ref);
    sent.push({ sha256: ref.sha256, type, content });
    field.set(ref.sha256, { follows: true, content_type: type, length: ref.size });
  }
  return { sent, field: field.size > 0 ? Object.fromEntries(field) : undefined };
}

/** Anybody may have written the type of a placeholder. */
function typeOf({ type, size }: FileRef): string {
  const [plain = ''] = type.split(';');
  const isTaken = TYPE.test(plain) && !(size > LARGE && COMPRESSED.test(plain));
  return isTaken ? plain : 'application/octet-stream';
}

/** A document and its files as one request, which streams from where the files are. */
export function withFiles(edit: CouchEdit, files: readonly AttachedFile[]): Blob {
  const boundary = toHex(crypto.getRandomValues(new Uint8Array(16)));
  const head = `--${boundary}\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(edit)}`;
  const parts = files.flatMap(({ sha256, type, content }) => [
    `\r\n--${boundary}\r\ncontent-disposition: attachment; filename="${sha256}"\r\n`,
    `content-type: ${type}\r\ncontent-length: ${content.size}\r\n\r\n`,
    content,
  ]);
  const type = `multipart/related;boundary=${boundary}`;
  return new Blob([head, ...parts, `\r\n--${boundary}--`], { type });
}

/** Reads so many bytes of an answer, behind others. */
export async function partOfAnswer(
  { body }: Response,
  from: number,
  length: number,
  onBytes: ((bytes: number) => void) | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  const reader = body?.getReader();
  let at = -from;
  while (reader && at < length) {
    const { done, value } = await reader.read();
    if (done) break;
    onBytes?.(value.length);
    const wanted = value.subarray(Math.max(0, -at), Math.max(0, length - at));
    bytes.set(wanted, Math.max(0, at));
    at += value.length;
  }
  reader?.cancel().catch(() => undefined);
  return at < length ? bytes.slice(0, Math.max(0, at)) : bytes;
}
