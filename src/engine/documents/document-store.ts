import { type Body, decode, encode, peek } from '../../codec/body.ts';
import { nameCollection } from '../../errors/criteria-error.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import { DocumentScans } from '../find/document-scans.ts';
import { ARCHIVED, stamped, UPDATED } from '../protocol/managed.ts';
import type { Change, ManagedReply, RecordReply, Request } from '../protocol/requests.ts';
import { bodyAtHand } from '../records/scan.ts';
import type { Coroutine, Result } from '../scheduling/coroutine.ts';
import { compileUpdate, type Update } from '../update/compile-update.ts';
import { idTaken, unusedId } from './ids.ts';
import { InsertParts } from './insert-parts.ts';

/**
 * The documents of a collection: ids, managed values, states, queries. What happens to them is a change of
 * their record; bodies are only decoded where something must look inside.
 */
export class DocumentStore {
  readonly scans: DocumentScans;
  readonly #context: CollectionContext;
  readonly #parts: InsertParts;

  constructor(context: CollectionContext) {
    this.#context = context;
    this.scans = new DocumentScans(context);
    this.#parts = new InsertParts(context);
  }

  execute(request: Request): Result<unknown> {
    switch (request.op) {
      case 'insert':
        return this.#insert(request);
      case 'insertPart':
        return this.#parts.add(request);
      case 'insertAbandon':
        return this.#parts.abandon(request.call);
      case 'upsert':
        return this.#upsert(request);
      case 'update':
        return this.#update(request);
      case 'patch':
        return this.#patch(request);
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
      default:
        return this.scans.execute(request);
    }
  }

  #insert({ id, body, now }: Request<'insert' | 'upsert'>): ManagedReply {
    const { records, settings, clock, newId } = this.#context;
    const isTaken = (key: string) => records.get(key) !== undefined;
    if (id !== undefined && isTaken(id)) throw idTaken(settings.name, id);
    const key = id ?? unusedId(isTaken, () => newId(settings.id_length));
    const stamps = stamped(undefined, 'created', settings, now ?? clock.now());
    this.#put(new StoredRecord(key, records.takeRank(), 0, stamps, body), undefined, 'insert');
    return stamps ? [key, 0, stamps] : [key, 0];
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
  }: Pick<Request<'update'>, 'id' | 'body' | 'now'>): ManagedReply | undefined {
    const { records, settings, clock } = this.#context;
    const before = records.get(id);
    if (!before) return undefined;
    const stamps = stamped(before.stamps, 'updated', settings, now ?? clock.now());
    return this.#replace(before, before.flags | UPDATED, stamps, body, 'update');
  }

  *#patch({ id, changes, at, now }: Request<'patch'>): Coroutine<RecordReply | undefined> {
    const { records } = this.#context;
    const update = this.#compile(changes);
    const before = records.get(id);
    if (!before) return undefined;
    const record = yield* this.#updated(before, update, at, now);
    this.#put(record, before, 'update');
    return [id, record.flags, record.stamps, record.body as Body];
  }

  /** @throws {ValueError} `update_invalid`; {KeyError}; {CriteriaError} naming the collection. */
  #compile(changes: Body): Update {
    try {
      return compileUpdate(peek(changes) as object);
    } catch (error) {
      throw nameCollection(error, this.#context.settings.name);
    }
  }

  /**
   * The version that an update makes of a record.
   *
   * @param at When the client made the call.
   * @param now When an earlier engine acknowledged it.
   */
  *#updated(
    before: StoredRecord,
    update: Update,
    at: number,
    now: number | undefined,
  ): Coroutine<StoredRecord> {
    const { records, settings, clock } = this.#context;
    const fields = decode(yield* records.bodies.of(before)) as object;
    const body = encode(update.apply(fields, at), 'document');
    const stamps = stamped(before.stamps, 'updated', settings, now ?? clock.now());
    return new StoredRecord(before.key, before.rank, before.flags | UPDATED, stamps, body);
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
    const { records, indexes } = this.#context;
    const record = records.get(id);
    if (!record) return false;
    indexes.delete(record);
    records.delete(record);
    this.#context.events.changed(id, 'delete');
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
    const { key, flags, stamps, body } = record;
    if (body === undefined) return this.#load(record);
    return [key, flags, stamps, this.#context.aborts.immediate ? bodyAtHand(record, body) : body];
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
    this.#put(new StoredRecord(key, rank, flags, stamps, body), before, kind);
    return stamps ? [key, flags, stamps] : [key, flags];
  }

  #put(record: StoredRecord, before: StoredRecord | undefined, kind: Change['kind']): void {
    const { records, indexes, events } = this.#context;
    indexes.extract(record, record.body as Body, before);
    indexes.put(record, before);
    records.put(record);
    events.changed(record.key, kind);
  }
}
