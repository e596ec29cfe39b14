import type { FileSection } from '../../backup/file/file-contents.ts';
import { writeFile } from '../../backup/file/write-file.ts';
import { BackupError } from '../../errors/backup-error.ts';

interface OpenFile {
  readonly bytes: AsyncGenerator<Uint8Array>;
  readonly release: () => void;
}

/** The files that are being written, each known by a number. Bytes are made when they are asked for. */
export class Exports {
  readonly #open = new Map<number, OpenFile>();

  /** @param release Called when the file is written, or nobody wants more of it. */
  begin(sections: AsyncIterable<FileSection>, release: () => void): { cursor: number } {
    // Not the number of any file in a worker that was there before this one.
    const cursor = Math.random();
    this.#open.set(cursor, { bytes: writeFile(sections), release });
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
      const { value, done } = await file.bytes.next();
      if (done) await this.end(cursor);
      return done ? undefined : value;
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
