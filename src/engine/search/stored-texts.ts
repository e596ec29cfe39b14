import type { SearchAsk } from '../../protocol/live-protocol.ts';
import type { Request } from '../../protocol/requests.ts';
import type { IndexKey } from '../../query/index/index-key.ts';
import { decodePostings, type StoredPostings } from '../../query/text/stored-postings.ts';
import {
  type BytesPage,
  type Checkpoint,
  directoryKey,
  pageKey,
  ROWS,
} from '../../storage/checkpoint/checkpoint-format.ts';
import type { Storage, StorageKey } from '../../storage/drivers/driver.ts';
import { isIntact } from '../../storage/integrity/seal.ts';
import type { OperationContext } from '../collection-context.ts';
import { DocumentIndexes } from '../documents/document-indexes.ts';
import { NewerSegments, StoredIndex } from '../first-reads/newer-segments.ts';
import type { StoredRecords } from '../first-reads/stored-records.ts';
import { TextIndex } from './text-index.ts';

/** The postings of an index in storage, with the checkpoint that they are of. */
export async function readStored(
  storage: Storage,
  name: string,
  column: string,
): Promise<readonly [Checkpoint, StoredPostings] | undefined> {
  const key = directoryKey(name);
  const [checkpoint] = (await storage.getMany('bodies', [key])) as [Checkpoint | undefined];
  if (!isIntact(key, checkpoint)) return undefined;
  const stored = await readPostings(storage, name, checkpoint, column);
  return stored && [checkpoint, stored];
}

/** `undefined` where there are none, or a page is missing or damaged. */
async function readPostings(
  storage: Storage,
  name: string,
  checkpoint: Checkpoint,
  column: string,
): Promise<StoredPostings | undefined> {
  const directory = checkpoint.indexes[column];
  if (!directory) return undefined;
  const { part, counts } = directory;
  const keys = Array.from(counts, (_, page) => pageKey(name, checkpoint, part, page));
  const pages = (await storage.getMany('bodies', keys)) as (BytesPage | undefined)[];
  const encoded = new Uint8Array(counts.reduce((sum, count) => sum + count, 0));
  let at = 0;
  for (const [number, page] of pages.entries()) {
    if (!isIntact(keys[number] as StorageKey, page)) return undefined;
    encoded.set(page.bytes, at);
    at += page.bytes.length;
  }
  return decodePostings(encoded);
}

/** By index: the postings of a collection that opens are read once. */
const contexts = new WeakMap<StoredRecords, Map<string, Promise<OperationContext | undefined>>>();

/**
 * What a search needs while its collection opens: a context with the postings of the checkpoint,
 * whose records are read as they are found.
 *
 * @returns `undefined` where the opening has to come first.
 */
export async function findStored(
  stored: StoredRecords,
  request: Request<'aggregate'>,
): Promise<OperationContext | undefined> {
  const ask = request.pipeline as unknown as SearchAsk;
  const hasCriteria = Object.keys(ask.criteria).length > 0;
  if (ask.part !== 'search' || hasCriteria || ask.after || ask.text.includes('"')) return undefined;
  const known = contexts.get(stored) ?? new Map<string, Promise<OperationContext | undefined>>();
  contexts.set(stored, known);
  const context = known.get(ask.index) ?? openStored(stored, ask.index);
  known.set(ask.index, context);
  return context;
}

async function openStored(
  stored: StoredRecords,
  name: string,
): Promise<OperationContext | undefined> {
  const { context, state, live } = stored;
  const { storage, settings, records, keeper } = context;
  const { all } = new DocumentIndexes(settings, keeper.declaredFor(records.log.version));
  const index = all.find(({ keyName }) => keyName === name);
  const directory = index && state.checkpoint.indexes[index.column];
  if (!(index instanceof TextIndex) || !directory) return undefined;
  const { definition, column } = index;
  const [found, newer] = await Promise.all([
    readPostings(storage, settings.name, state.checkpoint, column),
    NewerSegments.read(context, state, [new StoredIndex(definition, column, directory)]),
  ]);
  // A key that was deleted has a row whose rank is unknown.
  if (!found || !newer || newer.segments.some(({ segment }) => segment.deletes.length > 0))
    return undefined;
  const changed = new Set(newer.records.map(({ rank }) => rank));
  const { segments } = state.checkpoint;
  const isThere = (row: number) =>
    live.has(segments[Math.floor((found.slots[row] as number) / ROWS)] as number) &&
    !changed.has(found.ranks[row] as number);
  index.open(found, isThere, stored);
  for (const record of newer.records) {
    const key = record.indexKeys?.[0] as IndexKey;
    // The index was declared after this was saved.
    if (key === undefined) return undefined;
    index.add(record, key);
  }
  index.phase = 'ready';
  const own = { all: [index] } as unknown as DocumentIndexes;
  return { ...(await stored.contextOf([])), indexes: own } as OperationContext;
}
