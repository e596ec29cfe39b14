import { type Body, decode, encodeAndPeek, peek } from '../../codec/body.ts';
import { CairnError } from '../../errors/cairn-error.ts';
import { nameCollection } from '../../errors/criteria-error.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collections/collection-context.ts';
import { type ExpiryCheck, expiryCheck } from '../expiry/expiry-check.ts';
import type { DocumentScans } from '../find/document-scans.ts';
import { stamped, UPDATED } from '../protocol/managed.ts';
import type { ReplyTo, Request } from '../protocol/requests.ts';
import type { NewVersion } from '../records/version-sink.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import { Pace } from '../scheduling/pace.ts';
import { compileUpdate, type Update } from '../update/compile-update.ts';

/** The last update: a counter gets the same one again and again. */
let last: { readonly changes: string; readonly update: Update } | undefined;

/** Changes inside documents: fields to set, or update operators. */
export class DocumentUpdates {
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

  /** The version that a patch would make of a record. A schema may still make a Date of what is in the field of `expire_after`. */
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
  #compile(changes: Body): Update {
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
  #next(before: StoredRecord, stored: Body, update: Update, now: number): StoredRecord {
    const { record, fields } = this.#updated(before, stored, update, now, this.#checkExpiry);
    this.#context.versions.prepare(record, before, fields);
    return record;
  }

  /** The version that an update makes of a record, and its fields. */
  #updated(
    before: StoredRecord,
    stored: Body,
    update: Update,
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
