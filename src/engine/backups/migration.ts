import type { FilePart, FileRecord } from '../../backup/file/file-contents.ts';
import { CairnError } from '../../errors/cairn-error.ts';
import type { MigrationPart } from '../protocol/backup-protocol.ts';
import type { Request } from '../protocol/requests.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { SectionImport } from './section-import.ts';

/** A page that sends nothing for this long is frozen or hangs. It must not lock the collection for the other tabs. */
const SILENCE_MS = 60_000;

/** Where a migration reads and writes. */
export interface MigrationTask {
  readonly from: number;
  /** The records, in the parts of a file. */
  readonly parts: AsyncGenerator<FilePart, void>;
  readonly section: SectionImport;
  /** How many documents there are. */
  readonly total: number;
  /** Called with the number of documents that the page is done with. */
  readonly progress: (done: number) => void;
}

/**
 * A migration that a page runs: hands out the records part by part, and stages what the page makes of them. The next part
 * is read, and the last one written, while the page works.
 */
export class Migration {
  readonly #clock: Clock;
  #begin: (task: MigrationTask | undefined) => void = () => undefined;
  /** Resolves when its turn has come; with nothing where there is nothing to migrate. */
  readonly #begun = new Promise<MigrationTask | undefined>((resolve) => {
    this.#begin = resolve;
  });
  #finish: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  readonly #finished = new Promise<void>((resolve, reject) => {
    this.#finish = resolve;
    this.#reject = reject;
  });
  #writing: Promise<void> = Promise.resolve();
  #done = 0;
  #ended = false;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    // It may be aborted before its turn.
    this.#finished.catch(() => undefined);
  }

  /** Resolves when the page has migrated all records, and they are staged. */
  async run(task: MigrationTask): Promise<void> {
    task.progress(0);
    this.#listen();
    this.#begin(task);
    try {
      await this.#finished;
      await this.#writing;
    } finally {
      this.end();
      await task.parts.return();
    }
  }

  /** Takes in migrated records, and hands out the next ones; `undefined` if it wants no more. */
  async part(request: Request<'migratePart'>): Promise<MigrationPart | undefined> {
    const task = await this.#begun;
    if (!task || this.#ended) return undefined;
    this.#listen();
    try {
      return await this.#exchange(task, request);
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  fail(error: unknown): void {
    this.#reject(error);
  }

  abort(): void {
    this.fail(new CairnError('aborted', 'The migration was aborted.'));
  }

  /** It wants no more. */
  end(): void {
    this.#ended = true;
    this.#cancel();
    this.#begin(undefined);
  }

  async #exchange(
    { from, total, parts, section, progress }: MigrationTask,
    { records, done, isWhole }: Request<'migratePart'>,
  ): Promise<MigrationPart | undefined> {
    await this.#writing;
    if (records.length > 0) {
      this.#writing = section.add(records);
      // Whatever waits for it next rejects with its failure.
      this.#writing.catch(() => undefined);
    }
    this.#done += done;
    if (done > 0) progress(this.#done);
    if (!isWhole) return { from, total, records: [] };
    const next = await nextRecords(parts);
    if (!next) this.#finish();
    return next && { from, total, records: next };
  }

  #listen(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(SILENCE_MS, () => this.abort());
  }
}

async function nextRecords(
  parts: AsyncGenerator<FilePart, void>,
): Promise<readonly FileRecord[] | undefined> {
  for (;;) {
    const { value, done } = await parts.next();
    if (done) return undefined;
    if (value.kind === 'records' && value.records.length > 0) return value.records;
  }
}
