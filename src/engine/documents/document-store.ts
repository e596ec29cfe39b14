import type { Coroutine, Result } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import type { Change } from '../../protocol/event-protocol.ts';
import { ARCHIVED, stamped, UPDATED } from '../../protocol/managed.ts';
import type {
  FoundVersions,
  ManagedReply,
  RecordReply,
  Request,
  VersionedReply,
} from '../../protocol/requests.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { DocumentScans } from '../find/document-scans.ts';
import { versionNumber } from '../records/record-store.ts';
import { bodyAtHand } from '../records/scan.ts';
import { idTaken, unusedId } from './ids.ts';
import { InsertParts } from './insert-parts.ts';
import { type DocumentUpdates, type InsertedDocument, updateCode } from './late-updates.ts';

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
  #updates: DocumentUpdates | undefined;

  constructor(context: OperationContext) {
    this.#context = context;
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
        return this.#updating.patch(request);
      case 'patchMany':
        return this.#updating.patchMany(request);
      case 'patchOne':
        return this.#updating.patchOne(request);
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

  /** Requests wait for its code. */
  get #updating(): DocumentUpdates {
    this.#updates ??= new updateCode.DocumentUpdates(this.#context, this);
    return this.#updates;
  }

  insert({ id, body, now, kept }: InsertedDocument): ManagedReply {
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
      const shown = changes ? yield* this.#updating.patched(record, request) : record;
      return { record: yield* this.#load(shown), version };
    }
    if (!upsert) return undefined;
    const made = this.#updating.inserted(request);
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
