import type { Coroutine } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import { type Body, peek } from '../../codec/body.ts';
import { capture, decode, encode, encodeCaptured } from '../../codec/capture.ts';
import { CairnError, nameCollection } from '../../errors/errors.ts';
import { type ExpiryCheck, expiryCheck } from '../../protocol/expiry-check.ts';
import { stamped, UPDATED } from '../../protocol/managed.ts';
import type {
  RecordReply,
  ReplyTo,
  Request,
  RequestedChanges,
  Selection,
} from '../../protocol/requests.ts';
import { setAt } from '../../query/path/value-path.ts';
import { checkOperators, describedBy } from '../../query/update/check-operators.ts';
import { compileUpdate } from '../../query/update/compile-update.ts';
import type { ApplyUpdate, UpdateSource } from '../../query/update/update-operator.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import type { UpdatedStore } from '../documents/late-updates.ts';
import type { NewVersion } from '../documents/new-rows.ts';

/** Ids of the documents that match, in their order. */
export function* idsOf(
  scans: UpdatedStore['scans'],
  selection: Partial<Selection>,
): Coroutine<string[]> {
  const query = yield* scans.query(selection);
  const records = yield* query.records();
  query.pace.check();
  return records.map(({ key }) => key);
}

interface UpdateRequest extends RequestedChanges, UpdateSource {
  readonly now?: number | undefined;
}

/** The last update: a counter gets the same one again and again. */
let last: { readonly changes: string; readonly update: CompiledPatch } | undefined;

/** Changes inside documents: fields to set, or update operators. */
export class Patches {
  readonly #context: OperationContext;
  readonly #store: UpdatedStore;
  readonly #checkExpiry: ExpiryCheck | null;

  constructor(context: OperationContext, store: UpdatedStore) {
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
    this.#context.versions.put({ record, before, kind: 'update', patches: [request] });
    return { record: replyOf(record), now: time };
  }

  /** Its selection has the limit 1. No copy of it: that takes as long as the plan. */
  *patchOne(request: Request<'patchOne'>): Coroutine<ReplyTo<'patchOne'>> {
    const { id } = request;
    const [found] = id ? [id] : yield* idsOf(this.#store.scans, request);
    if (found !== undefined) {
      const changed = yield* this.patch(request, found);
      return changed && { ...changed, isInserted: false };
    }
    if (!request.upsert) {
      this.#compile(request); // refuses what no document would take
      return undefined;
    }
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
    const { criteria = {}, changes } = request as UpdateRequest;
    const { id, fields } = describedBy(criteria, peek(changes) as object);
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
    const patches = [request];
    const pace = new Pace(clock, aborts, request.call);
    for (const id of ids ?? (yield* idsOf(this.#store.scans, { ...request, now: time }))) {
      const before = records.get(id);
      if (!before) continue;
      // Outside: an error of storage is not the document's, and others may get it too.
      const body = yield* records.bodies.of(before);
      try {
        const record = this.#next(before, body, update, time);
        versions.push({ record, before, kind: 'update', patches });
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
    // A copy that is not decoded: its fields must not change.
    const captured =
      update.keepsJson && typeof stored === 'string'
        ? { copy: updated, json: true }
        : capture(updated, 'document');
    const body = encodeCaptured(captured);
    const stamps = stamped(before.stamps, 'updated', this.#context.settings, now);
    const { key, rank, flags } = before;
    const record = new StoredRecord(key, rank, flags | UPDATED, stamps, body);
    return { record, fields: captured.copy as object };
  }
}

/** Names the document that refuses an update, and with it the update of all. */
function nameDocument(error: unknown, id: string): unknown {
  if (error instanceof CairnError) error.message += ` It is the document with the _id "${id}".`;
  return error;
}

function replyOf({ key, flags, stamps, body }: StoredRecord): RecordReply {
  return [key, flags, stamps, body as Body];
}

export interface CompiledPatch {
  readonly apply: ApplyUpdate;
  /** Whether a document that JSON preserves stays one. */
  readonly keepsJson: boolean;
}

/**
 * Compiles the changes of a patch: fields to set, by dotted path, or update operators.
 *
 * @param isJson Whether JSON preserves the changes.
 * @throws {CriteriaError} of `$pull`, naming the place.
 */
export function compilePatch(
  changes: object,
  isJson: boolean,
  source?: UpdateSource,
): CompiledPatch {
  const entries = Object.entries(changes);
  if (entries[0]?.[0].startsWith('$')) {
    const checked = checkOperators(changes, source?.criteria !== undefined);
    return { apply: compileUpdate(checked, source), keepsJson: false };
  }
  return {
    apply: (fields) => {
      for (const [path, value] of entries) setAt(fields, path.split('.'), value, path);
      return fields;
    },
    // A value deeper in the document may exceed the depth of values.
    keepsJson: isJson && !entries.some(([path]) => path.includes('.')),
  };
}
