import type { FileHeader } from '../../backup/file/file-contents.ts';
import { readFile } from '../../backup/file/read-file.ts';
import { BackupError } from '../../errors/backup-error.ts';
import { CairnError } from '../../errors/cairn-error.ts';
import type { ImportProgress } from '../protocol/backup-protocol.ts';
import { ImportFeed } from './import-feed.ts';
import type { Importing } from './importing.ts';

interface Import {
  readonly feed: ImportFeed;
  documents: number;
}

/** Where the documents of a file go. */
export interface Destination {
  /** Called for each collection in the file; what comes after is read within `read`. */
  readonly section: <T>(
    header: FileHeader,
    read: (importing: Importing) => Promise<T>,
  ) => Promise<T>;
  /** Puts everything in place, once all of it was read. */
  readonly commit: (all: readonly Importing[]) => Promise<void>;
}

/** The files that are being read, each known by the number of its call. */
export class Imports {
  readonly #open = new Map<number, Import>();

  /** Parts of a file will come under this number, until it is {@link forget | forgotten}. */
  expect(call: number): void {
    this.#open.set(call, { feed: new ImportFeed(), documents: 0 });
  }

  forget(call: number): void {
    this.#open.get(call)?.feed.end();
    this.#open.delete(call);
  }

  /** Takes a part of a file in; the answer comes when it is being read. */
  async part(call: number, bytes: Uint8Array | undefined): Promise<ImportProgress | undefined> {
    const one = this.#open.get(call);
    const wanted = await one?.feed.push(bytes);
    return one && wanted ? { documents: one.documents, bytes: one.feed.bytes } : undefined;
  }

  abort(call: number): void {
    this.#open.get(call)?.feed.fail(new CairnError('aborted', 'The import was aborted.'));
  }

  /**
   * Reads a file to its end, then puts what it holds in place, all or nothing.
   *
   * @returns how many documents came.
   */
  async read(call: number, destination: Destination): Promise<number> {
    const one = this.#open.get(call);
    if (!one) throw new TypeError('No file was expected.');
    const parts = readFile(one.feed);
    const all: Importing[] = [];
    /** Reads on from a header: each collection is held until everything is in place. */
    const readSections = async (): Promise<void> => {
      const { value, done } = await parts.next();
      if (done) return destination.commit(all);
      if (value.kind !== 'header') throw new TypeError(`A file cannot go on with ${value.kind}.`);
      await destination.section(value.header, async (importing) => {
        all.push(importing);
        try {
          await this.#readSection(parts, one, importing);
          await readSections();
        } catch (error) {
          await importing.giveUp();
          throw error;
        }
      });
    };
    try {
      await readSections();
    } finally {
      one.feed.end();
      await parts.return(undefined);
    }
    for (const { replacing } of all) await replacing.settleIn();
    return one.documents;
  }

  async #readSection(
    parts: ReturnType<typeof readFile>,
    one: Import,
    importing: Importing,
  ): Promise<void> {
    for (;;) {
      const { value, done } = await parts.next();
      if (done || value.kind === 'end') break;
      if (value.kind === 'header') throw new TypeError('A collection must end before the next.');
      await importing.add(value.records);
      one.documents += value.records.length;
    }
    await importing.finish();
  }
}

/** @throws {BackupError} `file_several`, where a file is to be read into one collection. */
export function severalCollections(name: string): BackupError {
  return new BackupError(
    'file_several',
    'The file holds several collections: read it with importAll() of the database. Nothing was changed.',
    { place: name },
  );
}
