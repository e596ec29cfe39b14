import type { Coroutine, Result } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import { insertLost } from '../../protocol/collection-errors.ts';
import { stamped, UPDATED } from '../../protocol/managed.ts';
import { isInUpdates } from '../../protocol/operations.ts';
import type {
  FoundVersions,
  ManagedReply,
  RecordReply,
  ReplyTo,
  Request,
} from '../../protocol/requests.ts';
import { hashKeys, repeatedKey } from '../../storage/segments/key-hashes.ts';
import { type Stamps, StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { DocumentScans } from '../find/document-scans.ts';
import { bodyAtHand } from '../records/scan.ts';
import { isIndexRefusal } from './document-index.ts';
import { idTaken } from './ids.ts';
import {
  type InsertedDocument,
  type RequestExecutor,
  type UpdatedDocument,
  updateCode,
} from './late-updates.ts';
import { type NewRows, type NewVersion, partOfNew } from './new-rows.ts';

/** What executes the requests of a collection, by its type. */
export type CollectionStore = DocumentStore | InstanceType<typeof updateCode.KeyValueStore>;

/** Must be called once the collection is open: then the code of values is there. */
export function storeOf(context: OperationContext): CollectionStore {
  const Store =
    context.settings.type === 'DOCUMENT_BASED' ? DocumentStore : updateCode.KeyValueStore;
  return new Store(context);
}

/**
 * The documents of a collection: ids, managed values, states, queries. Every change replaces their
 * record; bodies are decoded only for access to fields.
 */
export class DocumentStore {
  readonly #context: OperationContext;
  /** Made when they are needed: each transaction has a store of its own. */
  #scans: DocumentScans | undefined;
  #parts: InsertParts | undefined;
  #updates: RequestExecutor | undefined;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  endScans(): void {
    this.#scans?.endAll();
  }

  execute(request: Request): Result<unknown> {
    switch (request.op) {
      case 'insert':
        return this.insert(request);
      case 'insertPart':
        return this.#inserting.add(request);
      case 'insertAbandon':
        return this.#inserting.abandon(request.call);
      case 'upsert':
        return this.#upsert(request);
      case 'update':
        return this.update(request);
      case 'delete':
        return this.#delete(request.id);
      case 'get':
        return this.#get(request.id);
      case 'getMany':
        return this.#getMany(request.ids);
      case 'getShared':
        return this.#getShared(request.ids);
      default:
        return (isInUpdates(request) ? this.#updating : this.scans).execute(request);
    }
  }

  get scans(): DocumentScans {
    this.#scans ??= new DocumentScans(this.#context);
    return this.#scans;
  }

  get #inserting(): InsertParts {
    this.#parts ??= new InsertParts(this.#context);
    return this.#parts;
  }

  /** Requests wait for its code. */
  get #updating(): RequestExecutor {
    this.#updates ??= new updateCode.DocumentUpdates(this.#context, this);
    return this.#updates;
  }

  insert({ id, body, now, kept }: InsertedDocument): ManagedReply {
    const { records, settings, clock, newId } = this.#context;
    if (id !== undefined && !records.vacate(id)) throw idTaken(settings.name, id);
    let key = id ?? newId(settings.id_length);
    while (id === undefined && !records.vacate(key)) key = newId(settings.id_length);
    const { flags, stamps } = kept ?? {
      flags: 0,
      stamps: stamped(undefined, 'created', settings, now ?? clock.now()),
    };
    const record = new StoredRecord(key, records.takeRank(), flags, stamps, body);
    return this.put({ record, before: undefined, kind: 'insert' });
  }

  #upsert(request: Request<'upsert'>): ManagedReply {
    return this.update(request) ?? this.insert(request);
  }

  update({ id, body, now, kept, patch }: UpdatedDocument): ManagedReply | undefined {
    const { settings, clock } = this.#context;
    const before = this.#find(id);
    if (!before) return undefined;
    const { flags, stamps } = kept ?? {
      flags: before.flags | UPDATED,
      stamps: stamped(before.stamps, 'updated', settings, now ?? clock.now()),
    };
    const record = new StoredRecord(before.key, before.rank, flags, stamps, body);
    return this.put({ record, before, kind: 'update', patches: patch && [patch] });
  }

  #delete(id: string): boolean {
    const record = this.#find(id);
    if (record) this.#context.versions.delete(record);
    return record !== undefined;
  }

  #get(id: string): Result<RecordReply | undefined> {
    const record = this.#find(id);
    if (!record) return undefined;
    this.#context.recent?.note([record]);
    const { body } = record;
    if (body === undefined) return this.#load(record);
    return replyOf(record, this.#context.aborts.immediate ? bodyAtHand(record, body) : body);
  }

  *#getMany(ids: readonly string[]): Coroutine<(RecordReply | undefined)[]> {
    const { records, bodies } = yield* this.#getShared(ids);
    return records.map((one, index) => one && replyOf(one, bodies[index] as Body));
  }

  *#getShared(ids: readonly string[]): Coroutine<FoundVersions> {
    const { records } = this.#context;
    // As of one instant: the segments are read at once, before a compaction could replace them.
    const found = ids.map((id) => this.#find(id));
    this.#context.recent?.note(found);
    const bodies = (yield* records.bodies.ofAll(found.filter((one) => one !== undefined))).values();
    return { records: found, bodies: found.map((one) => one && (bodies.next().value as Body)) };
  }

  #find(id: string | undefined): StoredRecord | undefined {
    return id === undefined ? undefined : this.#context.records.get(id);
  }

  *#load(record: StoredRecord): Coroutine<RecordReply> {
    return replyOf(record, yield* this.#context.records.bodies.of(record));
  }

  put(version: NewVersion): ManagedReply {
    const { key, flags, stamps } = version.record;
    this.#context.versions.put(version);
    return stamps ? [key, flags, stamps] : [key, flags];
  }
}

function replyOf({ key, flags, stamps }: StoredRecord, body: RecordReply[3]): RecordReply {
  return [key, flags, stamps, body];
}

/** Shorter generated ids may be taken; 16 characters are 95 random bits. */
const SHORT_ID = 16;

/** The staged documents of an `insertMany`. */
interface Staged extends NewRows {
  indexKeys: unknown[][];
  /** One instant for all of them. */
  readonly now: number;
  /** Their ids, if these are so short that a generated one may be taken. */
  readonly ids: Set<string> | undefined;
  /** Hashes of the ids of each part, if the caller chose some. */
  hashes: Uint32Array[] | undefined;
  /** The indexes of the records' keys, and their number: more may be added before the last part. */
  indexes: OperationContext['indexes'];
  width: number;
  /** The error of the call; more parts may follow. */
  failure: { readonly error: unknown } | undefined;
}

/**
 * `insertMany` arrives in parts, so that encoding a large one never blocks the page. Parts are
 * staged, and the last one adds all of them to the collection, or none. A client retries a part
 * without an answer. A part is missing if an earlier engine refused it or if the journal of an
 * ended page had no room for it.
 */
class InsertParts {
  readonly #context: OperationContext;
  readonly #staged = new Map<number, Staged>();

  constructor(context: OperationContext) {
    this.#context = context;
  }

  add(request: Request<'insertPart'>): ReplyTo<'insertPart'> {
    const { call, from, ids, bodies, indexKeys, last, now, upsert = false } = request;
    const begun = this.#staged.get(call);
    // If the first part is retried, the client resends all of them.
    const staged = begun && !(begun.failure && from === 0) ? begun : this.#begin(call, now);
    if (staged.failure) {
      if (last) this.#staged.delete(call);
      throw staged.failure.error;
    }
    try {
      const { settings, versions } = this.#context;
      const { stamps } = staged;
      const columnsOf = (keys: string[]): ReplyTo<'insertPart'> => ({
        ...{ keys, flags: new Uint8Array(keys.length), now: staged.now },
        stamps: stamps && keys.map(() => stamps),
      });
      const known = staged.keys.slice(from, from + bodies.length);
      if (known.length > 0) {
        // The last part is retried after a unique index was given up for it.
        if (last && upsert) return this.#commitUpserts(request, staged);
        if (last) this.#commit(call, staged);
        return columnsOf(known);
      }
      if (from > staged.keys.length) throw insertLost(settings.name);
      if (ids && !upsert) staged.hashes ??= [hashKeys(staged.keys)];
      const keys = bodies.map((body, index) => {
        const key = ids?.[index] ?? this.#newId(staged);
        staged.ids?.add(key);
        staged.keys.push(key);
        staged.bodies.push(body);
        return key;
      });
      staged.hashes?.push(hashKeys(keys));
      // The versions of an `upsertMany` are made with the last part.
      if (!upsert) versions.prepareRows(staged, from, indexKeys);
      if (last && upsert) return this.#commitUpserts(request, staged);
      if (last) this.#commit(call, staged);
      return columnsOf(keys);
    } catch (error) {
      if (now !== undefined && isIndexRefusal(error)) throw error;
      if (last) this.#staged.delete(call);
      staged.failure = { error };
      staged.keys.length = staged.bodies.length = 0;
      staged.hashes = undefined;
      throw error;
    }
  }

  abandon(call: number): undefined {
    this.#staged.delete(call);
    return undefined;
  }

  #begin(call: number, now: number | undefined): Staged {
    const { clock, settings, indexes } = this.#context;
    const time = now ?? clock.now();
    const staged: Staged = {
      keys: [],
      stamps: stamped(undefined, 'created', settings, time),
      bodies: [],
      indexKeys: [],
      now: time,
      indexes,
      width: indexes.width,
      ids: settings.id_length < SHORT_ID ? new Set() : undefined,
      hashes: undefined,
      failure: undefined,
    };
    this.#staged.set(call, staged);
    return staged;
  }

  #newId({ ids }: Staged): string {
    const { records, settings, newId } = this.#context;
    let id = newId(settings.id_length);
    // A short one may be taken.
    while (ids && (records.get(id) || ids.has(id))) id = newId(settings.id_length);
    return id;
  }

  #commit(call: number, staged: Staged): void {
    const { records, indexes, settings, versions } = this.#context;
    const { keys, ids, hashes } = staged;
    if (indexes !== staged.indexes || indexes.width !== staged.width) {
      staged.indexKeys = [];
      versions.prepareRows(staged, 0);
    }
    const repeated = hashes && repeatedKey(keys, hashes);
    if (repeated !== undefined) throw idTaken(settings.name, repeated);
    // Only now: an earlier attempt of the same call may have inserted them.
    if (ids || hashes)
      for (const key of keys) if (!records.vacate(key)) throw idTaken(settings.name, key);
    versions.add(partOfNew(staged, () => records.takeRank()));
    this.#staged.delete(call);
  }

  /**
   * Inserts the new ones and replaces the others. Of two with one id the later replaces the
   * earlier.
   */
  #commitUpserts({ call, patch }: Request<'insertPart'>, staged: Staged): ReplyTo<'insertPart'> {
    const { records, settings } = this.#context;
    const versions = new Map<string, NewVersion>();
    const { keys, bodies, now, stamps: created } = staged;
    const flags = new Uint8Array(keys.length);
    const patches = patch && [patch];
    const stamps: (Stamps | undefined)[] = [];
    for (const [index, key] of keys.entries()) {
      const stored = records.get(key);
      if (!stored) records.vacate(key);
      const latest = versions.get(key)?.record ?? stored;
      flags[index] = latest ? latest.flags | UPDATED : 0;
      stamps[index] = latest ? stamped(latest.stamps, 'updated', settings, now) : created;
      const rank = latest ? latest.rank : records.takeRank();
      const record = new StoredRecord(key, rank, flags[index], stamps[index], bodies[index]);
      versions.set(key, { record, before: stored, kind: stored ? 'update' : 'insert', patches });
    }
    this.#context.versions.putAll([...versions.values()]);
    this.#staged.delete(call);
    const isStamped = stamps.some((one) => one !== undefined);
    return { keys, flags, stamps: isStamped ? stamps : undefined, now };
  }
}
