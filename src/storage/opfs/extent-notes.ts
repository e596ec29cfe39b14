import type { Storage, StorageKey, StorageOperation } from '../drivers/driver.ts';

/** Milliseconds between two looks at what was written. */
const LOOK_MS = 250;
/** Looks until a file that is written to again and again is flushed. */
const LOOKS = 8;

interface NotedFile {
  /** Changes with each write. */
  readonly size: number;
  readonly extent: FileExtent;
  /** Flushes, between the writes. */
  flush(): Promise<void>;
}

/** Notes in IndexedDB how much of a file is flushed, behind the writes, which never wait. */
export class ExtentNotes {
  /** The IndexedDB of each opening. */
  readonly pages = new Set<Storage>();
  readonly #file: NotedFile;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looks = 0;
  /** The size at the last look. */
  #seen = 0;
  #noted = '';

  constructor(file: NotedFile) {
    this.#file = file;
  }

  /** Must be called after each write. */
  soon(): void {
    if (this.#file.size !== this.#seen) this.#lookSoon();
  }

  /** Notes what is flushed now. Never rejects: without a note less is noticed. */
  async now(): Promise<void> {
    const [pages] = this.pages;
    const { extent } = this.#file;
    const noted = `${extent.generation} ${extent.length}`;
    if (!pages || noted === this.#noted) return;
    try {
      await pages.write([noteExtent(extent)], 'relaxed');
      this.#noted = noted;
    } catch {
      // The next one says more.
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #lookSoon(): void {
    this.#timer ??= setTimeout(() => void this.#look(), LOOK_MS);
  }

  async #look(): Promise<void> {
    const { size } = this.#file;
    const isResting = size === this.#seen || ++this.#looks >= LOOKS;
    this.#seen = size;
    // One that is closed meanwhile is flushed and noted there.
    // Never amid the writes of a bulk insert: IndexedDB would work beside them.
    if (isResting) {
      await this.#file.flush().catch(() => undefined);
      await this.now();
    }
    this.#timer = undefined;
    if (!isResting) return this.#lookSoon();
    this.#looks = 0;
    this.soon();
  }
}

/**
 * The key in `leadership` of IndexedDB under which it notes how long the file of a database is at
 * least.
 */
export const EXTENT_KEY: StorageKey = ['extent'];

/**
 * How much of a file must be there, whatever ends the browser. A file grows, and a compaction makes
 * one of a higher generation: an older copy is shorter, or of a lower one.
 */
export interface FileExtent {
  readonly generation: number;
  /** Bytes that were flushed: what follows may rightly be lost in a power cut. */
  readonly length: number;
}

export function noteExtent(value: FileExtent): StorageOperation {
  return { type: 'put', store: 'leadership', key: EXTENT_KEY, value };
}

export const forgetExtent: StorageOperation = {
  ...{ type: 'delete', store: 'leadership', key: EXTENT_KEY },
};

/**
 * What a file lacks of what was noted, as a clause; `undefined` for nothing.
 *
 * @param end Offset behind its last whole write.
 */
export function missingIn(generation: number, end: number, noted: unknown): string | undefined {
  const { generation: newest = 0, length = 0 } = (noted ?? {}) as Partial<FileExtent>;
  if (generation < newest)
    return 'an older copy is in its place, or an empty file, so newer data is lost';
  if (generation > newest || end >= length) return undefined;
  return `it was cut, or an older copy is in its place: bytes ${end} to ${length} are lost`;
}
