import type { Coroutine, Result } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import type { Change } from '../../protocol/event-protocol.ts';
import { ARCHIVED, stamped, UPDATED } from '../../protocol/managed.ts';
import type {
  FoundVersions,
  ManagedReply,
  RecordReply,
  Request,
  RequestedPatch,
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
import type { NewVersion } from './new-rows.ts';

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
      case 'unarchive':
        return this.#archive(request);
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
    return this.#put({ record, before: undefined, kind: 'insert' });
  }

  #upsert(request: Request<'upsert'>): ManagedReply {
    return this.#update(request) ?? this.insert(request);
  }

  #update({
    id,
    body,
    now,
    kept,
    patch,
  }: Pick<Request<'update'>, 'body' | 'now' | 'patch'> & Pick<Request<'upsert'>, 'id' | 'kept'>):
    | ManagedReply
    | undefined {
    const { settings, clock } = this.#context;
    const before = this.#find(id);
    if (!before) return undefined;
    const { flags, stamps } = kept ?? {
      flags: before.flags | UPDATED,
      stamps: stamped(before.stamps, 'updated', settings, now ?? clock.now()),
    };
    return this.#replace(before, flags, stamps, body, 'update', patch);
  }

  #replaceIf({ version, ...update }: Request<'replaceIf'>): ManagedReply | false {
    return versionNumber(this.#find(update.id)) === version && (this.#update(update) ?? false);
  }

  *#archive({ op, id, ...given }: Request<'archive' | 'unarchive'>): Coroutine<number | false> {
    const { records, settings, clock } = this.#context;
    const { now = clock.now() } = given;
    const before = this.#find(id);
    if (!before || ((before.flags & ARCHIVED) !== 0) === (op === 'archive')) return false;
    const body = yield* records.bodies.of(before);
    const stamps = stamped(before.stamps, `${op}d`, settings, now);
    this.#replace(before, before.flags ^ ARCHIVED, stamps, body, op);
    return now;
  }

  #delete(id: string): boolean {
    const record = this.#find(id);
    if (record) this.#context.versions.delete(record);
    return record !== undefined;
  }

  *#deleteMany({ ids, ...selection }: Request<'deleteMany'>): Coroutine<number> {
    const doomed = ids ?? (yield* this.scans.idsOf(selection));
    const deleted = doomed.flatMap((id) => this.#find(id) ?? []);
    this.#context.versions.putAll([], deleted);
    return deleted.length;
  }

  *#deleteOne(request: Request<'deleteOne'>): Coroutine<RecordReply | undefined> {
    const [id] = yield* this.scans.idsOf({ ...request, limit: 1 });
    const record = this.#find(id);
    if (!record) return undefined;
    const reply = yield* this.#load(record);
    this.#context.versions.delete(record);
    return reply;
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

  *#getVersion(request: Request<'getVersion'>): Coroutine<VersionedReply | undefined> {
    const { id, changes, upsert } = request;
    const record = this.#find(id);
    const version = versionNumber(record);
    if (record) {
      const shown = changes ? yield* this.#updating.patched(record, request) : record;
      return { record: yield* this.#load(shown), version };
    }
    if (!upsert) return undefined;
    const made = this.#updating.inserted(request);
    return { record: [made.id ?? '', 0, undefined, made.body], version };
  }

  #find(id: string | undefined): StoredRecord | undefined {
    return id === undefined ? undefined : this.#context.records.get(id);
  }

  *#load(record: StoredRecord): Coroutine<RecordReply> {
    return replyOf(record, yield* this.#context.records.bodies.of(record));
  }

  #replace(
    before: StoredRecord,
    flags: number,
    stamps: StoredRecord['stamps'],
    body: Body,
    kind: Change['kind'],
    patch?: RequestedPatch,
  ): ManagedReply {
    const record = new StoredRecord(before.key, before.rank, flags, stamps, body);
    return this.#put({ record, before, kind, patches: patch && [patch] });
  }

  #put(version: NewVersion): ManagedReply {
    const { key, flags, stamps } = version.record;
    this.#context.versions.put(version);
    return stamps ? [key, flags, stamps] : [key, flags];
  }
}

function replyOf({ key, flags, stamps }: StoredRecord, body: RecordReply[3]): RecordReply {
  return [key, flags, stamps, body];
}
