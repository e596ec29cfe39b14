import type { Clock } from '../../async/clock.ts';
import type { FileHeader, FilePart } from '../../backup/file/file-contents.ts';
import { BackupError, CairnError } from '../../errors/errors.ts';
import type { SectionImport } from './section-import.ts';

type FileSection = Extract<FilePart, { kind: 'header' }>;

interface OpenImport {
  readonly feed: ImportFeed;
  documents: number;
}

interface ImportTarget {
  /** Called for the header of each collection; `read` reads the rest of the file. */
  readonly section: <T>(
    header: FileHeader,
    read: (section: SectionImport) => Promise<T>,
  ) => Promise<T>;
  /** Makes all sections live at once, after the end of the file. */
  readonly commit: (sections: readonly SectionImport[]) => Promise<void>;
}

export class Imports {
  readonly #clock: Clock;
  readonly #open = new Map<number, OpenImport>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lets the parts of a file in, until {@link forget}. */
  expect(call: number): void {
    this.#open.set(call, { feed: new ImportFeed(this.#clock), documents: 0 });
  }

  forget(call: number): void {
    this.#open.get(call)?.feed.end();
    this.#open.delete(call);
  }

  /**
   * Resolves once the import has taken the part, with the number of documents so far; `undefined`
   * if it wants no more.
   */
  async push(call: number, part: FilePart | undefined): Promise<number | undefined> {
    const open = this.#open.get(call);
    return (await open?.feed.push(part)) ? open?.documents : undefined;
  }

  abort(call: number): void {
    this.#open.get(call)?.feed.abort();
  }

  /**
   * Stages all sections of a file, then makes them live, all or nothing.
   *
   * @returns how many documents the file holds.
   */
  async run(call: number, target: ImportTarget): Promise<number> {
    const open = this.#open.get(call) as OpenImport;
    const parts = open.feed[Symbol.asyncIterator]();
    const sections: SectionImport[] = [];
    /** Recursive, from header to header: the collections stay locked until all are live. */
    const readSections = async (): Promise<void> => {
      const { value, done } = await parts.next();
      if (done) return target.commit(sections);
      // The client has read the file: nothing lies between sections.
      await target.section((value as FileSection).header, async (section) => {
        sections.push(section);
        try {
          await this.#readSection(parts, open, section);
          await readSections();
        } catch (error) {
          await section.discard();
          throw error;
        }
      });
    };
    try {
      await readSections();
    } finally {
      open.feed.end();
    }
    for (const { replacement } of sections) await replacement.settleIn();
    return open.documents;
  }

  async #readSection(
    parts: AsyncGenerator<FilePart, void>,
    open: OpenImport,
    section: SectionImport,
  ): Promise<void> {
    for (;;) {
      const { value } = await parts.next();
      if (value?.kind === 'header') throw new TypeError('A section must end before the next.');
      if (value?.kind !== 'records') break;
      await section.add(value.records);
      open.documents += value.records.length;
    }
    await section.finish();
  }
}

/**
 * @throws {BackupError} `file_several`, for a file of several collections that is read into one.
 */
export function severalCollections(name: string): BackupError {
  return new BackupError(
    'file_several',
    'The file holds several collections: import it with importAll() of the database. Nothing was changed.',
    { place: name },
  );
}

interface Push {
  /** `undefined` at the end of the file. */
  readonly part: FilePart | undefined;
  readonly taken: () => void;
}

/**
 * A page that sends nothing for so long is frozen: one that lives gives a silent file up after a
 * minute. Its import holds all clients.
 */
const SILENCE_MS = 300_000;

/** The parts of a file, which a client sends one by one. */
class ImportFeed implements AsyncIterable<FilePart> {
  readonly #clock: Clock;
  #push: Push | undefined;
  #arrived: (() => void) | undefined;
  #failure: CairnError | undefined;
  #ended = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Hands over a part, `undefined` at the end of the file. Parts must come one after the other.
   *
   * @returns whether the import has taken it; `false` once the import wants no more.
   */
  async push(part: FilePart | undefined): Promise<boolean> {
    if (this.#ended) return false;
    await new Promise<void>((taken) => {
      this.#push = { part, taken };
      this.#arrived?.();
    });
    return !this.#ended;
  }

  /** Makes the import fail. */
  abort(error: CairnError = new CairnError('aborted', 'The import was aborted.')): void {
    this.#failure ??= error;
    this.#arrived?.();
  }

  /** The import wants no more. */
  end(): void {
    this.#ended = true;
    this.#push?.taken();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FilePart, void> {
    for (;;) {
      if (!this.#push && !this.#failure) {
        const cancel = this.#clock.after(SILENCE_MS, () =>
          this.abort(new BackupError('import_lost', 'Its page was silent: import it again.')),
        );
        await new Promise<void>((arrived) => {
          this.#arrived = arrived;
        });
        cancel();
      }
      if (this.#failure) throw this.#failure;
      const { part, taken } = this.#push as Push;
      this.#push = undefined;
      taken();
      if (!part) return;
      yield part;
    }
  }
}
