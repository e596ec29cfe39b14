import type { Coroutine } from '../async/coroutine.ts';
import { typeMismatch } from '../protocol/collection-errors.ts';
import type { Checkpoint } from '../storage/checkpoint/checkpoint-format.ts';
import type { IntactBodies } from '../storage/integrity/body-checks.ts';
import type { Manifest } from '../storage/log/manifest.ts';
import type { SegmentState } from '../storage/segments/compaction.ts';
import { columnOf, type Segment } from '../storage/segments/segment.ts';
import type { CollectionContext } from './collection-context.ts';
import type { DocumentIndex } from './documents/document-index.ts';
import { DocumentIndexes } from './documents/document-indexes.ts';
import { extractKeys, lackingColumns, writeColumns } from './documents/index-builder.ts';
import type { FirstReads } from './first-reads/first-reads.ts';
import { OpenSnapshots } from './records/open-snapshots.ts';
import { RecordStore } from './records/record-store.ts';
import { FoldedRecords } from './records/table/folded-records.ts';

/** The parts of a collection that work with its checkpoint. */
interface Checkpoints {
  readonly first: FirstReads;
  readonly checkpoints: { found(checkpoint: Checkpoint | undefined): void };
}

/**
 * Opens a collection: reads its segments, and lets the first reads go ahead.
 *
 * @throws {StorageError} `data_damaged`, `format_newer` …; {CollectionError} `type_mismatch`.
 */
export function* openCollection(
  context: CollectionContext,
  { first, checkpoints }: Checkpoints,
): Coroutine<void> {
  const { name, type } = context.settings;
  const { log } = context.records;
  let loading: Loading | undefined;
  const begin = async (manifest: Manifest, checkpoint: Checkpoint | undefined): Promise<void> => {
    if (manifest.type !== type) throw typeMismatch(name, manifest.type, type);
    checkpoints.found(checkpoint);
    await first.begin(manifest, checkpoint);
    // Handles that were opened since the collection was have declared their indexes by now.
    loading = new Loading(context, log.version);
  };
  yield log.open({
    begin,
    take: (segment, hashes) => loading?.fold(segment, hashes),
    pause: () => first.pause(),
  });
  loading ??= new Loading(context, log.version);
  loading.open(log.segments);
  loading.takeFirst();
}

/**
 * Reads a list of segments into memory, aside from the present records: to open a collection, and
 * to replace its records by a backup. Nothing changes until {@link take}.
 */
export class Loading {
  readonly records: FoldedRecords;
  readonly #context: CollectionContext;
  readonly #indexes: DocumentIndexes;
  /** The segments that lack the column of an index. */
  readonly #lacking = new Map<DocumentIndex, Set<number>>();

  /**
   * @param version Of the documents.
   * @param caching Whether the bodies will be in memory too.
   */
  constructor(
    context: CollectionContext,
    version: number,
    caching: boolean = context.settings.caching,
  ) {
    const { settings, declared, expiry } = context;
    this.#context = context;
    this.#indexes = new DocumentIndexes(settings, declared.of(version), expiry);
    this.records = new FoldedRecords(this.#indexes.wantedColumns, caching);
    for (const slot of this.#indexes.all) this.#lacking.set(slot, new Set());
  }

  /** Folds a segment in; lowest number first. @param bodies If they were read. */
  fold(segment: Segment, hashes: Uint32Array, bodies?: IntactBodies): void {
    this.records.fold(segment, hashes, bodies);
    for (const [{ column }, lacking] of this.#lacking)
      if (!columnOf(segment, column)) lacking.add(segment.number);
  }

  /**
   * Counts the live sizes of the collection's segments. Indexes whose keys all segments have are
   * ready; the others are built once the collection is open.
   */
  open(segments: ReadonlyMap<number, SegmentState>): void {
    this.records.finish(segments);
    for (const [slot, lacking] of this.#lacking)
      if (lacking.size > 0 && this.records.hasSome(lacking)) this.#indexes.drop(slot);
    this.#fill();
  }

  /**
   * Counts the live sizes of segments that replace others, and builds all indexes.
   *
   * @throws {ValueError} `unique_violation`
   */
  *build(segments: ReadonlyMap<number, SegmentState>): Coroutine<void> {
    this.records.finish(segments);
    const { list } = this.records;
    const numbers = new Set([...this.#lacking.values()].flatMap((lacking) => [...lacking]));
    const lacking = list.filter(({ segment }) => numbers.has(segment));
    const indexes = this.#indexes;
    if (lacking.length > 0)
      yield* extractKeys(
        this.#context.records,
        lacking,
        (record, body) => indexes.extract(record, body),
        this.#context.events,
      );
    this.#fill();
    for (const slot of indexes.all) {
      for (const record of slot.refuses ? list : []) {
        const duplicate = indexes.duplicateOf(slot, record);
        // Of both: either may be the one that the caller can change.
        if (duplicate) throw indexes.violation(slot, duplicate);
      }
    }
  }

  #fill(): void {
    const { all } = this.#indexes;
    const { rows } = this.records;
    this.#indexes.fill(all, rows, (slot) => slot.keysOf(rows.parts));
    this.#indexes.ready(all);
  }

  /** Gives the collection its first records and indexes. */
  takeFirst(): void {
    this.#context.records.open(this.records);
    this.#context.indexes = this.#indexes;
  }

  /**
   * Replaces the records and indexes of the collection.
   *
   * @param isMigration Whether they are the same documents, so that none has changed for a server.
   */
  take(isMigration = false): void {
    const { records, replica } = this.#context;
    const before = replica ? records.list() : [];
    records.take(this.records);
    if (isMigration) replica?.noteMigration(before);
    else replica?.noteReplacement(before);
    this.#context.indexes = this.#indexes;
  }

  /** The records and indexes, beside those of the collection. */
  aside(): { readonly records: RecordStore; readonly indexes: DocumentIndexes } {
    const { clock, records: present } = this.#context;
    const records = new RecordStore(present.log, clock, false, new OpenSnapshots(), present.guard);
    records.open(this.records);
    return { records, indexes: this.#indexes };
  }

  /** Whether segments lack a column of an index; known once it is taken. */
  get isIncomplete(): boolean {
    return lackingColumns(this.#context.records, this.#indexes).length > 0;
  }

  /** Writes the missing columns. Nothing else may be written meanwhile. */
  complete(): Promise<void> {
    return writeColumns(this.#context.records, this.#indexes);
  }
}
