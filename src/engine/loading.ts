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
import type { FirstReads } from './first-reads/first-reads.ts';
import { FoldedRecords } from './records/table/folded-records.ts';

/** The parts of a collection that work with its checkpoint. */
interface Checkpoints {
  readonly first: FirstReads;
  readonly checkpoints: { found(checkpoint: Checkpoint | undefined): void };
}

/**
 * Opens a collection: reads its segments, and lets the first reads go ahead.
 *
 * @param kinds Settles when the code of indexes without an order is there, or does not come.
 * @throws {StorageError} `data_damaged`, `format_newer` …; {CollectionError} `type_mismatch`.
 */
export function* openCollection(
  context: CollectionContext,
  { first, checkpoints }: Checkpoints,
  kinds: Promise<unknown> | undefined,
): Coroutine<void> {
  const { name, type } = context.settings;
  const { log } = context.records;
  let loading: Loading | undefined;
  const begin = async (
    manifest: Manifest,
    checkpoint: Checkpoint | undefined,
    last: number,
  ): Promise<void> => {
    if (manifest.type !== type) throw typeMismatch(name, manifest.type, type);
    checkpoints.found(checkpoint);
    await first.begin({ manifest, checkpoint, last, kinds });
    await kinds;
    // Handles that were opened since the collection was have declared their indexes by now.
    loading = new Loading(context, log.version);
  };
  yield log.open({
    begin,
    take: (segment, hashes) => loading?.fold(segment, hashes),
    pause: () => first.pause(),
    lost: (error) => context.events.lost(error),
  });
  if (kinds) yield kinds;
  loading ??= new Loading(context, log.version);
  loading.open(log.segments);
  context.records.open(loading.records);
  context.indexes = loading.indexes;
}

/**
 * Reads a list of segments into memory, aside from the present records: to open a collection, and
 * to replace its records by a backup.
 */
export class Loading {
  readonly records: FoldedRecords;
  readonly indexes: DocumentIndexes;
  /** The segments that lack the column of an index. */
  readonly lacking = new Map<DocumentIndex, Set<number>>();

  /**
   * @param version Of the documents.
   * @param caching Whether the bodies will be in memory too.
   */
  constructor(
    context: CollectionContext,
    version: number,
    caching: boolean = context.settings.caching,
  ) {
    const { settings, keeper, records } = context;
    this.indexes = new DocumentIndexes(settings, keeper.declaredFor(version), records.expiry);
    this.records = new FoldedRecords(this.indexes.wantedColumns, caching);
    for (const slot of this.indexes.all) this.lacking.set(slot, new Set());
  }

  /** Folds a segment in; lowest number first. @param bodies If they were read. */
  fold(segment: Segment, hashes: Uint32Array, bodies?: IntactBodies): void {
    this.records.fold(segment, hashes, bodies);
    for (const [{ column }, lacking] of this.lacking)
      if (!columnOf(segment, column)) lacking.add(segment.number);
  }

  /**
   * Counts the live sizes of the collection's segments. Indexes whose keys all segments have are
   * ready; the others are built once the collection is open.
   */
  open(segments: ReadonlyMap<number, SegmentState>): void {
    this.records.finish(segments);
    for (const [slot, lacking] of this.lacking)
      if (lacking.size > 0 && this.records.hasSome(lacking)) this.indexes.drop(slot);
    this.fill();
  }

  /** Makes the indexes ready, whose keys all records have. */
  fill(): void {
    const { all } = this.indexes;
    const { rows } = this.records;
    this.indexes.fill(all, rows, (index) => index.keysOf(rows.parts));
    this.indexes.ready(all);
  }
}
