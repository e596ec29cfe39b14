import { asCairnError } from '../errors/as-cairn-error.ts';
import type { CairnError } from '../errors/cairn-error.ts';
import type { CollectionBackups } from './backups/collection-backups.ts';
import { typeMismatch } from './collection-errors.ts';
import type { StoreContext } from './context.ts';
import type { BuildProgress } from './documents/index-builder.ts';
import { Loading } from './loading.ts';
import type { SaveSchedule } from './records/save-schedule.ts';
import { type Coroutine, run } from './scheduling/coroutine.ts';

/** What it takes to open a collection. */
export interface OpeningHost {
  readonly context: StoreContext;
  readonly saves: SaveSchedule;
  readonly backups: CollectionBackups;
  readonly indexing: BuildProgress;
  /** Something failed that keeps nobody from using the collection. */
  readonly failed: (error: CairnError) => void;
}

/**
 * Opens a collection: reads what is stored, and brings it up to date.
 *
 * @throws {StorageError} `data_damaged`, `format_newer` …; {CollectionError} `type_mismatch`; {ValueError}
 *   `unique_violation`.
 */
export function* openCollection(host: OpeningHost): Coroutine<void> {
  const { context, indexing, failed } = host;
  const { name, type } = context.settings;
  const { log } = context.records;
  const loading = new Loading(context);
  const begin = (stored: string): void => {
    if (stored !== type) throw typeMismatch(name, stored, type);
  };
  yield log.open(begin, loading.fold);
  yield* loading.build(log.segments, indexing, true);
  loading.take();
  try {
    yield* bringUpToDate(host, loading);
  } catch (error) {
    // A full disk must not keep anybody from reading, or from making room.
    failed(asCairnError(error));
  }
}

function* bringUpToDate({ backups, saves }: OpeningHost, loading: Loading): Coroutine<void> {
  if (loading.isIncomplete) {
    yield backups.create({ reason: 'indexes' });
    yield saves.alone(async () => run(loading.complete()));
  }
}
