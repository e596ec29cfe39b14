import type { Coroutine, Result } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import { type Body, decode, encodeAndPeek, peek } from '../../codec/body.ts';
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
  VersionedReply,
} from '../../protocol/requests.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { DocumentScans } from '../find/document-scans.ts';
import { versionNumber } from '../records/records.ts';
import { bodyAtHand } from '../records/scan.ts';
import { type CompiledUpdate, compileUpdate } from '../update/compile-update.ts';
import { idTaken, unusedId } from './ids.ts';
import { InsertParts } from './insert-parts.ts';
import type { NewVersion } from './new-rows.ts';

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
        return this.#insert(request);
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
      case 'archive':
        return this.#archive(request, true);
      case 'unarchive':
        return this.#archive(request, false);
      case 'delete':
        return this.#delete(request.id);
      case 'deleteMany':
        return this.#deleteMany(request);
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

  #insert({ id, body, now, kept }: Omit<Request<'upsert'>, 'op'>): ManagedReply {
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
      (id === undefined ? undefined : this.#update({ ...request, id })) ?? this.#insert(request)
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
    const doomed = ids ?? (yield* this.scans.idsOf(selection));
    let deleted = 0;
    for (const id of doomed) if (this.#delete(id)) deleted++;
    return deleted;
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

  *#getVersion({ id, changes }: Request<'getVersion'>): Coroutine<VersionedReply | undefined> {
    const record = this.#context.records.get(id);
    if (!record) return undefined;
    const version = versionNumber(record);
    const shown = changes ? yield* this.#updates.patched(record, changes) : record;
    return { record: yield* this.#load(shown), version };
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

/** The last update: a counter gets the same one again and again. */
let last: { readonly changes: string; readonly update: CompiledUpdate } | undefined;

/** Changes inside documents: fields to set, or update operators. */
class DocumentUpdates {
  readonly #context: OperationContext;
  readonly #reader: { readonly scans: DocumentScans };
  readonly #checkExpiry: ExpiryCheck | null;

  constructor(context: OperationContext, reader: { readonly scans: DocumentScans }) {
    this.#context = context;
    this.#reader = reader;
    this.#checkExpiry = expiryCheck(context.settings) ?? null;
  }

  *patch({ id, changes, now }: Request<'patch'>): Coroutine<ReplyTo<'patch'>> {
    const { records, clock } = this.#context;
    const update = this.#compile(changes);
    const before = records.get(id);
    if (!before) return undefined;
    const time = now ?? clock.now();
    const record = this.#next(before, yield* records.bodies.of(before), update, time);
    this.#context.versions.put({ record, before, kind: 'update' });
    return { record: [id, record.flags, record.stamps, record.body as Body], now: time };
  }

  /**
   * The version that a patch would make of a record. A schema may still make a Date of what is in
   * the field of `expire_after`.
   */
  *patched(before: StoredRecord, changes: Body): Coroutine<StoredRecord> {
    const { records, clock } = this.#context;
    const update = this.#compile(changes);
    const body = yield* records.bodies.of(before);
    return this.#updated(before, body, update, clock.now(), null).record;
  }

  /** All or none: every new version is computed before the first is put. */
  *patchMany({
    ids,
    changes,
    now,
    ...selection
  }: Request<'patchMany'>): Coroutine<ReplyTo<'patchMany'>> {
    const { records, clock, aborts } = this.#context;
    const update = this.#compile(changes);
    const time = now ?? clock.now();
    const versions: NewVersion[] = [];
    const pace = new Pace(clock, aborts, selection.call);
    for (const id of ids ?? (yield* this.#reader.scans.idsOf(selection))) {
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
  #compile(changes: Body): CompiledUpdate {
    try {
      if (typeof changes !== 'string') return compileUpdate(peek(changes) as object, false);
      if (last?.changes !== changes)
        last = { changes, update: compileUpdate(peek(changes) as object, true) };
      return last.update;
    } catch (error) {
      throw nameCollection(error, this.#context.settings.name);
    }
  }

  /** The next version of a record, with the keys of its indexes. */
  #next(before: StoredRecord, stored: Body, update: CompiledUpdate, now: number): StoredRecord {
    const { record, fields } = this.#updated(before, stored, update, now, this.#checkExpiry);
    this.#context.versions.prepare(record, before, fields);
    return record;
  }

  /** The version that an update makes of a record, and its fields. */
  #updated(
    before: StoredRecord,
    stored: Body,
    update: CompiledUpdate,
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
