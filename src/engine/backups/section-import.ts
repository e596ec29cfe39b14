import type { FileHeader, FileRecord } from '../../backup/file/file-contents.ts';
import { BackupError } from '../../errors/backup-error.ts';
import type { SegmentLog } from '../../storage/log/segment-log.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { Replacement } from './replacement.ts';
import { Staging, type StagingOptions } from './staging.ts';

/**
 * One collection of a file on its way into place. Nothing else may be written to the collection from the
 * beginning to the end of it.
 */
export class SectionImport {
  readonly replacement: Replacement;
  readonly #log: SegmentLog;
  readonly #merge: boolean;
  readonly #staging: Staging;

  constructor(
    context: CollectionContext,
    replacement: Replacement,
    type: FileHeader['type'],
    options: StagingOptions,
  ) {
    this.#log = context.records.log;
    this.#merge = options.merge;
    this.#staging = new Staging(context, type, options);
    this.replacement = replacement;
  }

  /** How many documents came from the file. */
  get documents(): number {
    return this.#staging.documents;
  }

  add(records: readonly FileRecord[]): Promise<void> {
    return this.#staging.add(records);
  }

  /** To be called after the last record: writes the remaining records, then reads all records of the new state. */
  async finish(): Promise<void> {
    await this.#staging.finish();
    const staged = this.#staging.segments;
    const before = this.#merge ? [...this.#log.segments.keys()] : [];
    // An empty file has none.
    const [first = Number.POSITIVE_INFINITY] = staged;
    const known = new Set<string>();
    await this.replacement.bring([...before, ...staged], ({ number, keys }) => {
      for (const key of number < first ? [] : keys) {
        if (known.has(key)) throw damaged(`has document "${key}" twice`, key);
        known.add(key);
      }
    });
    this.#checkRanks();
  }

  /** Removes the staged segments. */
  async discard(): Promise<void> {
    try {
      await this.#log.unstage();
    } catch {
      // Staged segments that stay are orphans: a later write or the next opening removes them.
    }
  }

  #checkRanks(): void {
    let last = 0;
    for (const { rank, key } of this.replacement.records.list) {
      if (rank <= last) throw damaged(`has two documents of one rank, one of them "${key}"`, key);
      last = rank;
    }
  }
}

function damaged(what: string, place: string): BackupError {
  return new BackupError(
    'file_damaged',
    `The file ${what}: Cairn did not write it so. Nothing was changed; use another copy of the file.`,
    { place },
  );
}
