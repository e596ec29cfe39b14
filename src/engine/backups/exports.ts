import type { FileSection } from '../../backup/file/file-contents.ts';
import { writeFile } from '../../backup/file/write-file.ts';
import { BackupError } from '../../errors/backup-error.ts';

type Bytes = AsyncGenerator<Uint8Array, void>;

interface OpenFile {
  readonly bytes: Bytes;
  /** What will be asked for next: it is made while a page takes in what was before. */
  ahead: ReturnType<Bytes['next']> | undefined;
  readonly release: () => void;
}

/**
 * The files that are being written, each known by a number. Bytes are made when they are asked for, and one
 * chunk ahead.
 */
export class Exports {
  readonly #open = new Map<number, OpenFile>();

  /** @param release Called when the file is written, or nobody wants more of it. */
  begin(sections: AsyncIterable<FileSection>, release: () => void): { cursor: number } {
    // Not the number of any file in a worker that was there before this one.
    const cursor = Math.random();
    this.#open.set(cursor, { bytes: writeFile(sections), ahead: undefined, release });
    return { cursor };
  }

  /** The next bytes, `undefined` at the end. */
  async next(cursor: number): Promise<Uint8Array | undefined> {
    const file = this.#open.get(cursor);
    if (!file) {
      throw new BackupError(
        'export_lost',
        'The worker was restarted in the middle of this export; begin again.',
      );
    }
    try {
      const { value, done } = await (file.ahead ?? file.bytes.next());
      if (done) {
        await this.end(cursor);
        return undefined;
      }
      file.ahead = file.bytes.next();
      // Whoever asks for it is told.
      file.ahead.catch(() => undefined);
      return value;
    } catch (error) {
      await this.end(cursor);
      throw error;
    }
  }

  async end(cursor: number): Promise<undefined> {
    const file = this.#open.get(cursor);
    if (!file) return undefined;
    this.#open.delete(cursor);
    try {
      await file.bytes.return(undefined);
    } finally {
      file.release();
    }
  }
}
