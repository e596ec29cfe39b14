import { MemoryFile } from './memory-file.ts';

/** What a file of the origin private file system has while nobody has it open. */
interface StoredFile {
  bytes: Uint8Array;
  isOpen: boolean;
}

const failure = (name: string) => new DOMException(`As a browser says it: ${name}.`, name);

/** An open file, whose writes and flushes the disk may refuse. */
class OpenFile extends MemoryFile {
  readonly #stored: StoredFile;
  readonly #take: () => void;

  constructor(stored: StoredFile, take: () => void) {
    super(stored.bytes as Uint8Array<ArrayBuffer>);
    stored.isOpen = true;
    this.#stored = stored;
    this.#take = take;
  }

  override write(bytes: Uint8Array, options: { at: number }): number {
    try {
      this.#take();
    } catch (error) {
      // What there is room for.
      super.write(bytes.subarray(0, bytes.length >> 1), options);
      throw error;
    }
    return super.write(bytes, options);
  }

  override flush(): void {
    // A file system may look for room when it writes behind.
    this.#take();
    super.flush();
  }

  override close(): void {
    if (this.isOpen) Object.assign(this.#stored, { bytes: this.bytes, isOpen: false });
    super.close();
  }
}

/** A folder of the origin private file system, in memory. */
class MemoryFolder {
  readonly #entries = new Map<string, MemoryFolder | StoredFile>();
  readonly #take: () => void;

  constructor(take: () => void) {
    this.#take = take;
  }

  async getDirectoryHandle(name: string, options?: { create?: boolean }): Promise<MemoryFolder> {
    return this.#entry(name, options, () => new MemoryFolder(this.#take)) as MemoryFolder;
  }

  async getFileHandle(name: string, options?: { create?: boolean }) {
    const make = (): StoredFile => ({ bytes: new Uint8Array(0), isOpen: false });
    const stored = this.#entry(name, options, make) as StoredFile;
    return {
      createSyncAccessHandle: async () => {
        if (stored.isOpen) throw failure('NoModificationAllowedError');
        return new OpenFile(stored, this.#take);
      },
    };
  }

  async removeEntry(name: string): Promise<void> {
    if (!this.#entries.delete(name)) throw failure('NotFoundError');
  }

  #entry(
    name: string,
    { create = false }: { create?: boolean } = {},
    make: () => MemoryFolder | StoredFile,
  ) {
    const known = this.#entries.get(name);
    if (!known && !create) throw failure('NotFoundError');
    const entry = known ?? make();
    this.#entries.set(name, entry);
    return entry;
  }
}

const GLOBALS = ['navigator', 'FileSystemFileHandle'] as const;

/**
 * Gives this thread an origin private file system, empty.
 *
 * @param take Called before each write and flush of a file; throws where the disk is full.
 * @returns what takes it away.
 */
export function provideFiles(take: () => void): () => void {
  const before = GLOBALS.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  const root = new MemoryFolder(take);
  const handles = { prototype: { createSyncAccessHandle: () => undefined } };
  const values = [{ storage: { getDirectory: async () => root } }, handles];
  for (const [at, name] of GLOBALS.entries())
    Object.defineProperty(globalThis, name, { configurable: true, value: values[at] });
  return () => {
    for (const [at, name] of GLOBALS.entries()) {
      Reflect.deleteProperty(globalThis, name);
      const descriptor = before[at];
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    }
  };
}
