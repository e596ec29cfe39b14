import type { Coroutine } from '../../async/coroutine.ts';
import { type Body, peek } from '../../codec/body.ts';
import { isList } from '../../codec/kinds.ts';
import { ValueError } from '../../errors/errors.ts';
import { readsManaged } from '../../protocol/managed.ts';
import type { RequestedPatch } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import { type IndexKey, type KeyColumns, keyName, keyReader } from '../../query/index/index-key.ts';
import type { EncodedDocument } from './documents.ts';
import { pause, post, replyOf, type Sender } from './sender.ts';

/**
 * Characters of documents that `insertMany` encodes in one turn of the event loop: about 5 ms of
 * work. Browsers reuse message buffers up to this size.
 */
const SLICE_SIZE = 384 * 1024;

/** Assumed size of a document that JSON cannot hold: it takes longer than a string of its size. */
const EXACT_SIZE = 4096;

/** A part of a long list, and its reply. */
interface Slice {
  readonly fields: object[];
  readonly reply: ReturnType<typeof post<'insertPart'>>;
}

/** Encoded documents by column. */
export interface ListedDocuments {
  readonly ids: string[];
  readonly bodies: Body[];
}

type Encode = (document: unknown, place: string) => EncodedDocument;

/**
 * Encodes and sends a list in slices, which take effect with the last.
 * docs/decisions/005-sliced-bulk-insert.md has the reasons.
 *
 * @param keysOf Reads the index keys of new documents.
 */
export function* encodeAndSend(
  sender: Sender,
  documents: unknown,
  method: 'insertMany' | 'upsertMany',
  encode: Encode,
  keysOf?: ReadKeys,
): Coroutine<Slice[]> {
  if (!isList(documents)) {
    throw new ValueError('document_invalid', `${method} takes an array of documents.`, {
      place: 'documents',
    });
  }
  const upsert = method === 'upsertMany';
  // Copies the list: later slices are encoded in later turns.
  const list: unknown[] = [...documents];
  const slices: Slice[] = [];
  const call = Math.random();
  try {
    for (let from = 0, last = false; !last; ) {
      const { fields, ...slice } = encodeSlice(list, from, encode);
      const { bodies } = slice;
      last = from + bodies.length >= list.length;
      const indexKeys = keysOf?.(bodies, fields);
      const part = { op: 'insertPart', call, from, last, ...slice, indexKeys, upsert } as const;
      const reply = post(sender, part);
      from += bodies.length;
      slices.push({ fields, reply });
      if (!last) yield* pause(sender);
    }
  } catch (error) {
    if (slices.length > 0) post(sender, { op: 'insertAbandon', call });
    throw error;
  }
  return slices;
}

/** Replaces encoded documents by what a patch has made of them, all or none. */
export function* sendSlices(
  sender: Sender,
  { ids, bodies }: ListedDocuments,
  patch: RequestedPatch,
): Coroutine<void> {
  const call = Math.random();
  const replies: Slice['reply'][] = [];
  for (let from = 0; from < bodies.length; ) {
    const to = from + sliceLength(bodies, from);
    replies.push(
      post(sender, {
        ...{ op: 'insertPart', call, from, last: to === bodies.length, upsert: true, patch },
        ...{ ids: ids.slice(from, to), bodies: bodies.slice(from, to) },
      }),
    );
    from = to;
  }
  for (const reply of replies) yield* replyOf(reply);
}

function sliceLength(bodies: readonly Body[], from: number): number {
  let length = 0;
  for (let size = 0; from + length < bodies.length && size < SLICE_SIZE; length++)
    size += sizeOf(bodies[from + length] as Body);
  return length;
}

function encodeSlice(list: readonly unknown[], from: number, encode: Encode) {
  const bodies: Body[] = [];
  const ids: (string | undefined)[] = [];
  const fields: object[] = [];
  let size = 0;
  for (let index = from; index < list.length && size < SLICE_SIZE; index++) {
    const encoded = encodeListed(list, index, encode);
    bodies.push(encoded.body);
    ids.push(encoded.id);
    fields.push(encoded.fields);
    size += sizeOf(encoded.body);
  }
  return { bodies, fields, ids: ids.some((id) => id !== undefined) ? ids : undefined };
}

function sizeOf(body: Body): number {
  return typeof body === 'string' ? body.length : EXACT_SIZE;
}

function encodeListed(list: readonly unknown[], index: number, encode: Encode): EncodedDocument {
  try {
    return encode(list[index], 'documents[]');
  } catch {
    // Only a refused document needs its index in errors: building the text costs time.
    return encode(list[index], `documents[${index}]`);
  }
}

export type ReadKeys = (bodies: readonly Body[], fields: readonly object[]) => KeyColumns;

/**
 * Compiles the reader of the keys of a collection's indexes. The client has the fields while it
 * encodes; the engine would have to decode each body.
 *
 * @returns `undefined` without indexes. An index over managed fields has no column: the engine
 *   makes these.
 */
export function indexKeysReader({ indexes }: CollectionSettings): ReadKeys | undefined {
  const readers = indexes
    .filter((one) => !one.where && !one.special && !readsManaged(one))
    .map((definition) => [keyName(definition), keyReader(definition)] as const);
  if (readers.length === 0) return undefined;
  return (bodies, fields) => {
    const documents = fields.map((own, at) => readable(bodies[at] as Body, own));
    const columns: Record<string, IndexKey[]> = {};
    for (const [name, read] of readers) columns[name] = documents.map(read);
    return columns;
  };
}

/** The caller gets the fields and may change a Date in them; the body of JSON has none. */
function readable(body: Body, fields: object): object {
  return typeof body === 'string' ? fields : (peek(body) as object);
}
