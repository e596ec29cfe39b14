import type { Coroutine, Result } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import { decode, encode } from '../../codec/capture.ts';
import { ARCHIVED, stamped } from '../../protocol/managed.ts';
import type {
  ManagedReply,
  RecordReply,
  Request,
  VersionedReply,
} from '../../protocol/requests.ts';
import { addFieldOperators } from '../../query/criteria/operators/field-operators.ts';
import { rareOperators } from '../../query/criteria/operators/rare-operators.ts';
import { providePrefixes } from '../../query/plan/interval.ts';
import { isPrefixOnly, prefixInterval } from '../../query/plan/prefix.ts';
import { checkOperators } from '../../query/update/check-operators.ts';
import { compileUpdate } from '../../query/update/compile-update.ts';
import { provideRebase } from '../../query/update/late-update.ts';
import { rebase } from '../../query/update/rebase.ts';
import { provideCollations } from '../../query/value/collation.ts';
import { collators } from '../../query/value/collators.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { DocumentIndex, indexKinds } from '../documents/document-index.ts';
import {
  provideUpdates,
  type RequestExecutor,
  type UpdatedStore,
} from '../documents/late-updates.ts';
import { provideReads } from '../find/late-reads.ts';
import { pageStart } from '../find/page-start.ts';
import { KeyValueStore, liveValue } from '../key-value-store.ts';
import { lateResults } from '../live/live-queries.ts';
import { versionNumber } from '../records/record-store.ts';
import { idsOf, Patches } from './patches.ts';

/** Changes that few sessions make: of fields, of states, by criteria, of a known version. */
class DocumentUpdates implements RequestExecutor {
  readonly #context: OperationContext;
  readonly #store: UpdatedStore;
  readonly #patches: Patches;

  constructor(context: OperationContext, store: UpdatedStore) {
    this.#context = context;
    this.#store = store;
    this.#patches = new Patches(context, store);
  }

  execute(request: Request): Result<unknown> {
    switch (request.op) {
      case 'patch':
        return this.#patches.patch(request);
      case 'patchMany':
        return this.#patches.patchMany(request);
      case 'patchOne':
        return this.#patches.patchOne(request);
      case 'getVersion':
        return this.#getVersion(request);
      case 'replaceIf':
        return this.#replaceIf(request);
      case 'archive':
      case 'unarchive':
        return this.#archive(request);
      case 'deleteMany':
        return this.#deleteMany(request);
      case 'deleteOne':
        return this.#deleteOne(request);
      default:
        throw new TypeError(`"${request.op}" is no operation of the part of updates.`);
    }
  }

  *#getVersion(request: Request<'getVersion'>): Coroutine<VersionedReply | undefined> {
    const { id, changes, upsert } = request;
    const record = this.#find(id);
    const version = versionNumber(record);
    if (record) {
      const shown = changes ? yield* this.#patches.patched(record, request) : record;
      return { record: yield* this.#load(shown), version };
    }
    if (!upsert) return undefined;
    const made = this.#patches.inserted(request);
    return { record: [made.id ?? '', 0, undefined, made.body], version };
  }

  #replaceIf({ version, ...update }: Request<'replaceIf'>): ManagedReply | false {
    return (
      versionNumber(this.#find(update.id)) === version && (this.#store.update(update) ?? false)
    );
  }

  *#archive({ op, id, ...given }: Request<'archive' | 'unarchive'>): Coroutine<number | false> {
    const { records, settings, clock } = this.#context;
    const { now = clock.now() } = given;
    const before = this.#find(id);
    if (!before || ((before.flags & ARCHIVED) !== 0) === (op === 'archive')) return false;
    const body = yield* records.bodies.of(before);
    const stamps = stamped(before.stamps, `${op}d`, settings, now);
    const flags = before.flags ^ ARCHIVED;
    const record = new StoredRecord(before.key, before.rank, flags, stamps, body);
    this.#store.put({ record, before, kind: op });
    return now;
  }

  *#deleteMany({ ids, ...selection }: Request<'deleteMany'>): Coroutine<number> {
    const doomed = ids ?? (yield* idsOf(this.#store.scans, selection));
    const deleted = doomed.flatMap((id) => this.#find(id) ?? []);
    this.#context.versions.putAll([], deleted);
    return deleted.length;
  }

  *#deleteOne(request: Request<'deleteOne'>): Coroutine<RecordReply | undefined> {
    const [id] = yield* idsOf(this.#store.scans, { ...request, limit: 1 });
    const record = this.#find(id);
    if (!record) return undefined;
    const reply = yield* this.#load(record);
    this.#context.versions.delete(record);
    return reply;
  }

  #find(id: string | undefined): StoredRecord | undefined {
    return id === undefined ? undefined : this.#context.records.get(id);
  }

  *#load(record: StoredRecord): Coroutine<RecordReply> {
    const body: Body = yield* this.#context.records.bodies.of(record);
    return [record.key, record.flags, record.stamps, body];
  }
}

provideRebase((operations, from, to, onto) => {
  const fieldsOf = (body: Body) => decode(body) as object;
  const states = [() => fieldsOf(from), fieldsOf(to), () => fieldsOf(onto)] as const;
  const compile = (changes: object) => compileUpdate(checkOperators(changes, false));
  const made = rebase(operations, states, compile);
  if (made.operations.length === 0) return undefined;
  try {
    const [base, remote] = [encode(made.base, 'document'), encode(made.remote, 'document')];
    return { operations: made.operations, base, remote };
  } catch {
    // Too deep together: they are merged by values.
    return undefined;
  }
});
provideUpdates({ DocumentUpdates, KeyValueStore });
provideReads({ pageStart });
lateResults.value = liveValue;
addFieldOperators(rareOperators);
indexKinds.updates = DocumentIndex;
provideCollations(collators);
providePrefixes({ isPrefixOnly, prefixInterval });
