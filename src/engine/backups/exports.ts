import { type FileHeader, type FilePart, versionIn } from '../../backup/file/file-contents.ts';
import type { Lease } from '../../backup/snapshots.ts';
import { BackupError } from '../../errors/errors.ts';
import type { ChangedPart } from '../../protocol/backup-protocol.ts';
import { otherVersion } from '../../protocol/collection-errors.ts';
import type { CollectionContext } from '../collection-context.ts';

/** What is handed out: the content of a file, or changes. */
type Part = FilePart | ChangedPart;

type Parts = AsyncGenerator<Part, void>;

interface OpenExport {
  readonly parts: Parts;
  /** The next part, read while the client takes in the one before. */
  ahead: ReturnType<Parts['next']> | undefined;
  readonly lease: ExportLease;
}

/** What is pinned meanwhile. */
export type ExportLease = Pick<Lease, 'release' | 'why'>;

/** The pinned snapshots that clients write to files, or compare, by cursor. */
export class Exports {
  readonly #open = new Map<number, OpenExport>();

  /** @param lease Released when the client has it all, or wants no more. */
  begin(parts: Parts, lease: ExportLease): { cursor: number } {
    // Random: a number of an engine before this one must not be known here.
    const cursor = Math.random();
    this.#open.set(cursor, { parts, ahead: undefined, lease });
    return { cursor };
  }

  /** The next part, `undefined` at the end. */
  async next(cursor: number): Promise<Part | undefined> {
    const open = this.#open.get(cursor);
    if (!open) {
      throw new BackupError(
        'export_lost',
        'The engine was replaced during this export or diff. Begin it again.',
      );
    }
    try {
      const { value, done } = await (open.ahead ?? open.parts.next());
      if (done) {
        await this.end(cursor);
        return undefined;
      }
      open.ahead = open.parts.next();
      // The next request rejects with it.
      open.ahead.catch(() => undefined);
      return value;
    } catch (error) {
      await this.end(cursor);
      throw await open.lease.why(error);
    }
  }

  async end(cursor: number): Promise<undefined> {
    const open = this.#open.get(cursor);
    if (!open) return undefined;
    this.#open.delete(cursor);
    try {
      await open.parts.return(undefined);
    } finally {
      open.lease.release();
    }
  }
}

/** Segments that a drop reads for a file, of some 100 kB. */
const MOST_AHEAD = 640;

/** The parts of a section. A drop or rename amid it reads the others before they go. */
export async function* readBeforeDrop<T>(
  parts: AsyncGenerator<T, void>,
  lease: Lease,
): AsyncGenerator<T, void> {
  const ahead: ReturnType<typeof parts.next>[] = [];
  lease.readRest = async () => {
    let isDone: boolean | undefined = false;
    while (!isDone && ahead.length < MOST_AHEAD) {
      const next = parts.next();
      ahead.push(next);
      // Who takes it from the queue rejects with it.
      isDone = await next.then(
        ({ done }) => done,
        () => true,
      );
    }
  };
  for (;;) {
    const { value } = await (ahead.shift() ?? parts.next());
    if (!value) return;
    yield value;
  }
}

/**
 * The header of a collection's section, with the options of the collection and the indexes of all
 * open handles.
 *
 * @param version Of the documents.
 */
export function headerOf(
  { settings, keeper }: CollectionContext,
  version: number,
  snapshot: Pick<FileHeader, 'created_at' | 'label'>,
): Omit<FileHeader, 'documents'> {
  const { name, type, created, updated, archived, unarchived, save_early, ...others } = settings;
  const stamps = Object.entries({ created, updated, archived, unarchived }).flatMap(
    ([stamp, { at, timestamp }]) => [
      [`indicate_${stamp}_at`, at],
      [`indicate_${stamp}_timestamp`, timestamp],
    ],
  );
  const indexes = keeper.declaredFor(version);
  const options = { ...others, ...Object.fromEntries(stamps), indexes, version };
  return { collection: name, type, options, ...snapshot };
}

/**
 * The version that the documents of a file have, where it suits those that are there.
 *
 * @throws {CollectionError} `schema_newer`, `schema_older`
 */
export function importedVersion(
  { settings, keeper, records }: CollectionContext,
  header: FileHeader,
  merge: boolean,
): number {
  const { exists, version: own } = records.log;
  const version = versionIn(header);
  // Where nobody has it open, the next handle migrates it.
  const isFree = !keeper.isUsed && !(merge && exists);
  if (version === own || isFree) return version;
  const { name } = settings;
  throw otherVersion(name, version, own, `the file for collection "${name}"`);
}
