import { type Body, encodeMade, peek } from '../../codec/body.ts';
import type { RecordState } from '../../protocol/record-states.ts';
import type { Push } from '../../protocol/replica-protocol.ts';
import type { RequestedPatch } from '../../protocol/requests.ts';
import type { Operation } from '../../query/update/late-update.ts';
import { folded, isOperation, MOST_OPERATIONS } from '../../query/update/operations.ts';
import { hiddenName } from '../../storage/collection-name.ts';
import { SegmentLog } from '../../storage/log/segment-log.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collection-context.ts';
import { RecordStore } from '../records/record-store.ts';
import { FoldedRecords } from '../records/table/folded-records.ts';
import { SaveSchedule } from '../save-schedule.ts';
import { heldIn, heldText } from './held-version.ts';

/** Bits of an entry, above those of managed values. */
const FORGOTTEN = 128;
const DIRTY = 64;
const HAS_BASE = 32;

/** Keys of entries begin with this: an id may be anything. */
const ENTRY = 'd';
const PUSHES = 'p';
const OPERATIONS = 'o';
const STATE = 's';

/** What a replica knows of a document beyond its record. */
export interface ReplicaLogEntry {
  /** The server's version that the document derives from. */
  readonly version: string | undefined;
  /** The scopes that have it. */
  readonly scopes: readonly string[];
  /** Whether the document has changed since. */
  readonly isDirty: boolean;
  /** The server's state at that version, where the document has changed since. */
  readonly base: RecordState | undefined;
  /** Whether it counts as changed only as nothing is known of it: the next change has a base. */
  readonly isForgotten?: boolean;
}

/**
 * The log of a replica, beside the one of its collection: entries of documents that differ from the
 * server's, pushes without an answer, and the replica's state. Both are saved together.
 */
export class ReplicaLog {
  readonly saves: SaveSchedule;
  readonly #records: RecordStore;
  readonly #events: CollectionContext['events'];

  constructor(context: CollectionContext) {
    const { settings, storage, pool, durability, clock, events, links, tidy } = context;
    const log = new SegmentLog({
      ...{ storage, pool, durability },
      name: hiddenName('replica', settings.name),
      type: 'REPLICA',
      caching: true,
      columns: () => [],
      epoch: () => storage.epoch(),
      referenced: async () => new Set<number>(),
    });
    this.#events = events;
    // No transaction reads it.
    this.#records = new RecordStore(log, clock, true, {});
    const silent = {
      saved: () => undefined,
      hub: { release: () => undefined },
      failed: events.failed.bind(events),
    };
    this.saves = new SaveSchedule(this.#records, settings, clock, silent, links, tidy);
  }

  async open(): Promise<void> {
    const { log, bodies } = this.#records;
    const folded = new FoldedRecords([], true);
    const lost = this.#events.lost.bind(this.#events);
    await log.open({ take: (segment, hashes) => folded.fold(segment, hashes), lost });
    folded.finish(log.segments);
    this.#records.take(folded);
    await bodies.load();
  }

  /** As {@link SegmentLog.recordTakeover}. */
  recordTakeover(): Promise<void> {
    return this.saves.alone(() => this.#records.log.recordTakeover());
  }

  get state(): unknown {
    return this.#read(STATE);
  }

  set state(state: object) {
    this.#put(STATE, 0, undefined, encodeMade(state), undefined);
  }

  get(id: string): ReplicaLogEntry | undefined {
    const record = this.#records.get(ENTRY + id);
    if (!record) return undefined;
    const { flags, stamps, body, remoteVersion: held } = record;
    const base: RecordState = [flags & (HAS_BASE - 1), stamps, body as Body];
    return {
      ...(held === undefined ? { version: undefined, scopes: [] } : heldIn(held)),
      isDirty: (flags & DIRTY) !== 0,
      isForgotten: flags >= FORGOTTEN,
      base: (flags & HAS_BASE) !== 0 ? base : undefined,
    };
  }

  put(id: string, { version, scopes, isDirty, base, isForgotten }: ReplicaLogEntry): void {
    const [flags, stamps, body] = base ?? [0, undefined, 'null'];
    const bits = (isForgotten ? FORGOTTEN : 0) | (isDirty ? DIRTY : 0) | (base ? HAS_BASE : 0);
    const held = version === undefined ? undefined : heldText({ version, scopes });
    this.#put(ENTRY + id, flags | bits, stamps, body, held);
  }

  delete(id: string): void {
    this.#delete(ENTRY + id);
  }

  /** The pushes of a document without an answer, oldest first. */
  pushes(id: string): readonly Push[] {
    return (this.#read(PUSHES + id) as Push[] | undefined) ?? [];
  }

  setPushes(id: string, pushes: readonly Push[]): void {
    this.#write(PUSHES + id, pushes.length > 0 ? pushes : undefined);
  }

  /** `undefined` where a document was not changed by operations. */
  operations(id: string): DocumentOperations | undefined {
    return this.#read(OPERATIONS + id) as DocumentOperations | undefined;
  }

  setOperations(id: string, operations: DocumentOperations | undefined): void {
    this.#write(OPERATIONS + id, operations);
  }

  #read(key: string): unknown {
    const record = this.#records.get(key);
    return record && peek(record.body as Body);
  }

  #write(key: string, value: unknown): void {
    if (value === undefined) this.#delete(key);
    else this.#put(key, 0, undefined, encodeMade(value), undefined);
  }

  #delete(key: string): void {
    const record = this.#records.get(key);
    if (record) this.#records.delete(record);
  }

  /** Whether the entry of a document is in storage as it is now. */
  isSaved(id: string): boolean {
    return this.#records.get(ENTRY + id)?.segment !== 0;
  }

  /** The ids of all entries; of documents with pushes. */
  *ids(kind: 'd' | 'p' = ENTRY): Generator<string> {
    for (const key of this.#records.keys()) if (key.startsWith(kind)) yield key.slice(1);
  }

  #put(
    key: string,
    flags: number,
    stamps: StoredRecord['stamps'],
    body: Body,
    version: string | undefined,
  ): void {
    const rank = this.#records.get(key)?.rank ?? this.#records.takeRank();
    const record = new StoredRecord(key, rank, flags, stamps, body);
    record.remoteVersion = version;
    this.#records.put(record);
  }
}

/**
 * The operations of one changed document, by the key of the push that they came after; those before
 * all pushes are at {@link FIRST}. Nothing says here that a field was set in between: an operation
 * counts as long as it explains what the field is (`rebase` in query/update/rebase.ts).
 */
export type DocumentOperations = Readonly<Record<string, Segment>>;

interface Segment {
  /** What the push has sent, where the document differs from its base by nothing else. */
  readonly sent?: readonly Operation[];
  readonly since: readonly Operation[];
}

export const FIRST = '';

export function operationsIn(patches: readonly RequestedPatch[]): Operation[] {
  return patches.flatMap(({ changes, collation }) => {
    // What strings are equal to in a collation is not known elsewhere.
    if (collation !== undefined) return [];
    return Object.entries(peek(changes) as object).flatMap(([operator, operands]) =>
      operator.startsWith('$')
        ? Object.entries(operands as object)
            .map(([path, operand]): Operation => [operator, path, operand])
            .filter(isOperation)
        : [],
    );
  });
}

/** With more operations behind a push. Too many are forgotten: values count from then on. */
export function withMore(
  known: DocumentOperations,
  key: string,
  more: readonly Operation[],
): DocumentOperations {
  const segment = known[key];
  const since = more.reduce(folded, segment?.since ?? []);
  return { ...known, [key]: { ...segment, since: since.length > MOST_OPERATIONS ? [] : since } };
}

/** The operations since one of some pushes, which are in their order. */
export function operationsSince(
  known: DocumentOperations,
  keys: readonly string[],
  from: string,
): readonly Operation[] {
  const all = [FIRST, ...keys];
  const later = all.slice(all.indexOf(from)).flatMap((key) => known[key]?.since ?? []);
  return later.reduce(folded, [] as readonly Operation[]);
}
