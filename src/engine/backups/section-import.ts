import type { FileRecord } from '../../backup/file/file-contents.ts';
import type { Body } from '../../codec/body.ts';
import { BackupError } from '../../errors/errors.ts';
import { stage, unstage } from '../../storage/log/replace-log.ts';
import type { SegmentLog } from '../../storage/log/segment-log.ts';
import { cutSegments, SEGMENT_SIZE } from '../../storage/segments/segment.ts';
import { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collection-context.ts';
import type { Replacement } from './replacement.ts';

/** One collection of a file on its way into place; nothing else may be written to it. */
export class SectionImport {
  readonly replacement: Replacement;
  readonly #log: SegmentLog;
  readonly #merge: boolean;
  readonly #staging: Staging;

  constructor(context: CollectionContext, replacement: Replacement, options: StagingOptions) {
    this.#log = context.records.log;
    this.#merge = options.merge;
    this.#staging = new Staging(context, options);
    this.replacement = replacement;
  }

  add(records: readonly FileRecord[]): Promise<void> {
    return this.#staging.add(records);
  }

  /** Writes the remaining records, then reads all records of the new state. */
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

  async discard(): Promise<void> {
    try {
      await unstage(this.#log, this.#staging.segments);
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

/** The highest rank that is let in: so many can still come after it. */
const MAX_RANK = 2 ** 52;

/** Rough bytes that are written in one transaction. */
const AT_ONCE = 10 * SEGMENT_SIZE;

interface StagingOptions {
  /** Whether they come on top of what the collection holds. */
  readonly merge: boolean;
  /** Whether they are the collection's own, migrated: those that equal the server's still do. */
  readonly isMigration?: boolean;
}

/** Writes the records of a file into segments that count for nothing until they are listed. */
class Staging {
  readonly segments: number[] = [];
  readonly #context: CollectionContext;
  readonly #merge: boolean;
  readonly #isMigration: boolean;
  /** What the ranks of new documents come after. */
  readonly #base: number;
  #waiting: StoredRecord[] = [];
  #size = 0;

  constructor(context: CollectionContext, { merge, isMigration = false }: StagingOptions) {
    this.#context = context;
    this.#merge = merge;
    this.#isMigration = isMigration;
    this.#base = merge ? context.records.takeRank() : 0;
  }

  async add(records: readonly FileRecord[]): Promise<void> {
    for (const { key, order, flags, stamps, body } of records) {
      const record = new StoredRecord(key, this.#rankOf(key, order), flags, stamps, body);
      // What was stored before an index refused it must come back.
      this.#context.indexes.extract(record, body, undefined, undefined, 'readStored');
      if (this.#isMigration)
        record.remoteVersion = this.#context.records.table.get(key)?.remoteVersion;
      // What has expired is not there: it takes no key, and no place of another version.
      else if (this.#context.records.expiry?.isHidden(record)) continue;
      this.#waiting.push(record);
      this.#size += typeof body === 'string' ? body.length : SEGMENT_SIZE / 100;
    }
    if (this.#size >= AT_ONCE) await this.#write(true);
  }

  /** Writes the remaining records. */
  finish(): Promise<void> {
    return this.#write(false);
  }

  /** A document that is there already keeps its place, as with an update. */
  #rankOf(key: string, order: number): number {
    const known = this.#merge ? this.#context.records.table.get(key) : undefined;
    const rank = known?.rank ?? this.#base + order;
    if (rank <= MAX_RANK) return rank;
    throw damaged(`gives document "${key}" too high a rank`, key);
  }

  /** @param more Whether more will come, so that a segment that is not full can wait. */
  async #write(more: boolean): Promise<void> {
    const { log } = this.#context.records;
    const contents = [...cutSegments([], this.#waiting, ({ body }) => body as Body, log.sizes)];
    const last = more ? contents.pop() : undefined;
    this.#waiting = last ? [...last.records] : [];
    this.#size = last?.size ?? 0;
    if (contents.length === 0) return;
    await stage(log, contents, this.segments);
  }
}
