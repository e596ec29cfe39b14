import type { Storage } from '../drivers/driver.ts';
import { type FileExtent, noteExtent } from './file-extent.ts';

/** Milliseconds between two looks at what was written. */
const LOOK_MS = 250;
/** Looks until a file that is written to again and again is flushed. */
const LOOKS = 8;

/** The file that is noted. */
interface NotedFile {
  /** Changes with each write. */
  readonly size: number;
  readonly extent: FileExtent;
  /** Flushes, between the writes. */
  flush(): Promise<void>;
}

/**
 * Notes in IndexedDB how much of a file is flushed, behind the writes: once it rests, every two seconds while it does not. No
 * write waits for that.
 */
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
    if (isResting) await this.#file.flush().catch(() => undefined);
    await this.now();
    this.#timer = undefined;
    if (!isResting) return this.#lookSoon();
    this.#looks = 0;
    this.soon();
  }
}
