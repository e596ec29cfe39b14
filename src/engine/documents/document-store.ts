import type { Coroutine, Result } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import { type Body, decode, encode, encodeAndPeek, peek } from '../../codec/body.ts';
import { CairnError, nameCollection } from '../../errors/errors.ts';
import type { Change } from '../../protocol/event-protocol.ts';
import {
  ARCHIVED,
  type ExpiryCheck,
  expiryCheck,
  stamped,
  UPDATED,
} from '../../protocol/managed.ts';
import type {
  FoundVersions,
  ManagedReply,
  RecordReply,
  ReplyTo,
  Request,
  RequestedChanges,
  VersionedReply,
} from '../../protocol/requests.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { DocumentScans } from '../find/document-scans.ts';
import { versionNumber } from '../records/record-store.ts';
import { bodyAtHand } from '../records/scan.ts';
import {
  type CompiledPatch,
  compilePatch,
  type UpdateSource,
  updateCode,
} from './compile-patch.ts';
import { idTaken, unusedId } from './ids.ts';
import { InsertParts } from './insert-parts.ts';
import type { NewVersion } from './new-rows.ts';

type NewDocument = Pick<Request<'upsert'>, 'id' | 'body' | 'now' | 'kept'>;

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
  readonly #updates: DocumentUpdates;

  constructor(context: OperationContext) {
    this.#context = context;
    this.#updates = new DocumentUpdates(context, this);
  }

  /** Ends the scans that were not read to their end. */
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
        return this.#update(request);
      case 'replaceIf':
        return this.#replaceIf(request);
      case 'patch':
        return this.#updates.patch(request);
      case 'patchMany':
        return this.#updates.patchMany(request);
      case 'patchOne':
        return this.#updates.patchOne(request);
      case 'archive':
        return this.#archive(request, true);
      case 'unarchive':
        return this.#archive(request, false);
      case 'delete':
        return this.#delete(request.id);
      case 'deleteMany':
        return this.#deleteMany(request);
      case 'deleteOne':
        return this.#deleteOne(request);
      case 'get':
        return this.#get(request.id);
      case 'getMany':
        return this.#getMany(request.ids);
      case 'getShared':
        return this.#getShared(request.ids);
      case 'getVersion':
        return this.#getVersion(request);
      default:
        return this.scans.execute(request);
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

  insert({ id, body, now, kept }: NewDocument): ManagedReply {
    const { records, settings, clock, newId } = this.#context;
    if (id !== undefined && !records.vacate(id)) throw idTaken(settings.name, id);
    const key =
      id ??
      unusedId(
        (made) => !records.vacate(made),
        () => newId(settings.id_length),
      );
    const { flags, stamps } = kept ?? {
      flags: 0,
      stamps: stamped(undefined, 'created', settings, now ?? clock.now()),
    };
    const record = new StoredRecord(key, records.takeRank(), flags, stamps, body);
    this.#context.versions.put({ record, before: undefined, kind: 'insert' });
    return stamps ? [key, flags, stamps] : [key, flags];
  }

  #upsert(request: Request<'upsert'>): ManagedReply {
    const { id } = request;
    return (
      (id === undefined ? undefined : this.#update({ ...request, id })) ?? this.insert(request)
    );
  }

  #update({
    id,
    body,
    now,
    kept,
  }: Pick<Request<'update'>, 'id' | 'body' | 'now'> & Pick<Request<'upsert'>, 'kept'>):
    | ManagedReply
    | undefined {
    const { records, settings, clock } = this.#context;
    const before = records.get(id);
    if (!before) return undefined;
    const { flags, stamps } = kept ?? {
      flags: before.flags | UPDATED,
      stamps: stamped(before.stamps, 'updated', settings, now ?? clock.now()),
    };
    return this.#replace(before, flags, stamps, body, 'update');
  }

  #replaceIf({ version, ...update }: Request<'replaceIf'>): ManagedReply | false {
    const { records } = this.#context;
    if (versionNumber(records.get(update.id)) !== version) return false;
    return this.#update(update) ?? false;
  }

  *#archive(
    request: Request<'archive' | 'unarchive'>,
    archive: boolean,
  ): Coroutine<number | false> {
    const { records, settings, clock } = this.#context;
    const { id, now = clock.now() } = request;
    const before = records.get(id);
    if (!before || ((before.flags & ARCHIVED) !== 0) === archive) return false;
    const body = yield* records.bodies.of(before);
    const flags = archive ? before.flags | ARCHIVED : before.flags & ~ARCHIVED;
    const name = archive ? 'archived' : 'unarchived';
    const stamps = stamped(before.stamps, name, settings, now);
    this.#replace(before, flags, stamps, body, archive ? 'archive' : 'unarchive');
    return now;
  }

  #delete(id: string): boolean {
    const { records, versions } = this.#context;
    const record = records.get(id);
    if (!record) return false;
    versions.delete(record);
    return true;
  }

  *#deleteMany({ ids, ...selection }: Request<'deleteMany'>): Coroutine<number> {
    const { records, versions } = this.#context;
    const doomed = ids ?? (yield* this.scans.idsOf(selection));
    const deleted = doomed.flatMap((id) => records.get(id) ?? []);
    versions.putAll([], deleted);
    return deleted.length;
  }

  *#deleteOne(request: Request<'deleteOne'>): Coroutine<RecordReply | undefined> {
    const [id] = yield* this.scans.idsOf({ ...request, limit: 1 });
    const record = id === undefined ? undefined : this.#context.records.get(id);
    if (!record) return undefined;
    const reply = yield* this.#load(record);
    this.#delete(record.key);
    return reply;
  }

  #get(id: string): Result<RecordReply | undefined> {
    const record = this.#context.records.get(id);
    if (!record) return undefined;
    this.#context.recent?.note([record]);
    const { key, flags, stamps, body } = record;
    if (body === undefined) return this.#load(record);
    return [key, flags, stamps, this.#context.aborts.immediate ? bodyAtHand(record, body) : body];
  }

  *#getMany(ids: readonly string[]): Coroutine<(RecordReply | undefined)[]> {
    const { records, bodies } = yield* this.#getShared(ids);
    return records.map(
      (one, index) => one && [one.key, one.flags, one.stamps, bodies[index] as Body],
    );
  }

  *#getShared(ids: readonly string[]): Coroutine<FoundVersions> {
    const { records } = this.#context;
    // As of one instant: the segments are read at once, before a compaction could replace them.
    const found = ids.map((id) => records.get(id));
    this.#context.recent?.note(found);
    const bodies = (yield* records.bodies.ofAll(found.filter((one) => one !== undefined))).values();
    return { records: found, bodies: found.map((one) => one && (bodies.next().value as Body)) };
  }

  *#getVersion(request: Request<'getVersion'>): Coroutine<VersionedReply | undefined> {
    const { id, changes, upsert } = request;
    const record = id === undefined ? undefined : this.#context.records.get(id);
    const version = versionNumber(record);
    if (record) {
      const shown = changes ? yield* this.#updates.patched(record, request) : record;
      return { record: yield* this.#load(shown), version };
    }
    if (!upsert) return undefined;
    const made = this.#updates.inserted(request);
    return { record: [made.id ?? '', 0, undefined, made.body], version };
  }

  *#load(record: StoredRecord): Coroutine<RecordReply> {
    return [
      record.key,
      record.flags,
      record.stamps,
      yield* this.#context.records.bodies.of(record),
    ];
  }

  #replace(
    before: StoredRecord,
    flags: number,
    stamps: StoredRecord['stamps'],
    body: Body,
    kind: Change['kind'],
  ): ManagedReply {
    const { key, rank } = before;
    const record = new StoredRecord(key, rank, flags, stamps, body);
    this.#context.versions.put({ record, before, kind });
    return stamps ? [key, flags, stamps] : [key, flags];
  }
}

function replyOf({ key, flags, stamps, body }: StoredRecord): RecordReply {
  return [key, flags, stamps, body as Body];
}

/** What a request says of its changes. */
interface UpdateRequest extends RequestedChanges, UpdateSource {
  readonly now?: number | undefined;
}

/** The last update: a counter gets the same one again and again. */
let last: { readonly changes: string; readonly update: CompiledPatch } | undefined;

/** Changes inside documents: fields to set, or update operators. */
class DocumentUpdates {
  readonly #context: OperationContext;
  readonly #store: Pick<DocumentStore, 'scans' | 'insert'>;
  readonly #checkExpiry: ExpiryCheck | null;

  constructor(context: OperationContext, store: Pick<DocumentStore, 'scans' | 'insert'>) {
    this.#context = context;
    this.#store = store;
    this.#checkExpiry = expiryCheck(context.settings) ?? null;
  }

  *patch(
    request: Request<'patch' | 'patchOne'>,
    id = request.id as string,
  ): Coroutine<ReplyTo<'patch'>> {
    const { records, clock } = this.#context;
    const update = this.#compile(request);
    const before = records.get(id);
    if (!before) return undefined;
    const time = request.now ?? clock.now();
    const record = this.#next(before, yield* records.bodies.of(before), update, time);
    this.#context.versions.put({ record, before, kind: 'update' });
    return { record: replyOf(record), now: time };
  }

  /** Its selection has the limit 1. No copy of it: that takes as long as the plan. */
  *patchOne(request: Request<'patchOne'>): Coroutine<ReplyTo<'patchOne'>> {
    const { id } = request;
    const [found] = id ? [id] : yield* this.#store.scans.idsOf(request);
    if (found !== undefined) {
      const changed = yield* this.patch(request, found);
      return changed && { ...changed, isInserted: false };
    }
    if (!request.upsert) return undefined;
    const made = this.inserted(request, this.#checkExpiry);
    const now = request.now ?? this.#context.clock.now();
    const [key, flags, stamps] = this.#store.insert({ ...made, now });
    return { record: [key, flags, stamps, made.body], now, isInserted: true };
  }

  /** The document that an upsert by criteria inserts. */
  inserted(
    request: Partial<UpdateRequest>,
    check?: ExpiryCheck | null,
  ): { readonly id: string | undefined; readonly body: Body } {
    const { id, fields } = updateCode.describedBy(request.criteria ?? {});
    const update = this.#compile({ ...(request as UpdateRequest), inserts: true });
    // A copy: values of the criteria must not change.
    const copy = decode(encode(fields, 'document')) as object;
    const made = update.apply(copy, request.now ?? this.#context.clock.now());
    check?.(made, 'document');
    return { id, body: encode(made, 'document') };
  }

  /**
   * The version that a patch would make of a record. A schema may still make a Date of what is in
   * the field of `expire_after`.
   */
  *patched(before: StoredRecord, request: Partial<UpdateRequest>): Coroutine<StoredRecord> {
    const { records, clock } = this.#context;
    const update = this.#compile(request as UpdateRequest);
    const body = yield* records.bodies.of(before);
    return this.#updated(before, body, update, clock.now(), null).record;
  }

  /** All or none: every new version is computed before the first is put. */
  *patchMany({ ids, now, ...request }: Request<'patchMany'>): Coroutine<ReplyTo<'patchMany'>> {
    const { records, clock, aborts } = this.#context;
    const update = this.#compile(request);
    const time = now ?? clock.now();
    const versions: NewVersion[] = [];
    const pace = new Pace(clock, aborts, request.call);
    for (const id of ids ?? (yield* this.#store.scans.idsOf({ ...request, now: time }))) {
      const before = records.get(id);
      if (!before) continue;
      // Outside: an error of storage is not the document's, and others may get it too.
      const body = yield* records.bodies.of(before);
      try {
        const record = this.#next(before, body, update, time);
        versions.push({ record, before, kind: 'update' });
      } catch (error) {
        throw nameDocument(error, id);
      }
      if (pace.due) yield* pace.pause();
    }
    this.#context.versions.putAll(versions);
    return { count: versions.length, now: time };
  }

  /** @throws {ValueError} `update_invalid`; {KeyError}; {CriteriaError} naming the collection. */
  #compile(request: UpdateRequest): CompiledPatch {
    const { changes } = request;
    try {
      if (typeof changes !== 'string') return compilePatch(peek(changes) as object, false, request);
      const { filters, inserts, collation } = request;
      if (filters || inserts || collation || changes.includes('.$'))
        return compilePatch(peek(changes) as object, true, request);
      if (last?.changes !== changes)
        last = { changes, update: compilePatch(peek(changes) as object, true) };
      return last.update;
    } catch (error) {
      throw nameCollection(error, this.#context.settings.name);
    }
  }

  /** The next version of a record, with the keys of its indexes. */
  #next(before: StoredRecord, stored: Body, update: CompiledPatch, now: number): StoredRecord {
    const { record, fields } = this.#updated(before, stored, update, now, this.#checkExpiry);
    this.#context.versions.prepare(record, before, fields);
    return record;
  }

  /** The version that an update makes of a record, and its fields. */
  #updated(
    before: StoredRecord,
    stored: Body,
    update: CompiledPatch,
    now: number,
    check: ExpiryCheck | null,
  ): { readonly record: StoredRecord; readonly fields: object } {
    const updated = update.apply(decode(stored) as object, now);
    check?.(updated, 'document');
    const { body, fields } =
      update.keepsJson && typeof stored === 'string'
        ? { body: JSON.stringify(updated), fields: updated }
        : encodeAndPeek(updated, 'document');
    const stamps = stamped(before.stamps, 'updated', this.#context.settings, now);
    const { key, rank, flags } = before;
    const record = new StoredRecord(key, rank, flags | UPDATED, stamps, body);
    return { record, fields: fields as object };
  }
}

/** Names the document that refuses an update, and with it the update of all. */
function nameDocument(error: unknown, id: string): unknown {
  if (error instanceof CairnError) error.message += ` It is the document with the _id "${id}".`;
  return error;
}
