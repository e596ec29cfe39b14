/** A file of a collection. */
export interface FileName {
  readonly collection: string;
  /** Hexadecimal, in small letters. */
  readonly sha256: string;
}

/** A file that a device sends. Its parts are apart from those that others send of the same one. */
export interface UploadName extends FileName {
  /** A secret of the device, with the bytes of the file: it proves that the device has it. */
  readonly device: string;
}

/**
 * Where a server keeps files: {@link memoryFiles}, {@link postgresFiles}, or your own. Files are
 * made of the parts in which they came, each of at most 1 MiB.
 */
export interface FileStore {
  /** Bytes of an upload so far; `undefined` once it is done. */
  received(upload: UploadName): Promise<number | undefined>;

  /**
   * Adds a part to an upload that has `from` bytes. @returns how many it has now: as before, if
   * they were others.
   */
  append(upload: UploadName, from: number, bytes: Uint8Array): Promise<number>;

  /** The part of an upload that begins at a byte. */
  uploaded(upload: UploadName, from: number): Promise<Uint8Array | undefined>;

  /** Makes an upload the file, unless there is one, and notes that the device has it. */
  finish(upload: UploadName): Promise<void>;

  /** Removes the parts of an upload that is not the file it claims to be, unless it is done. */
  discard(upload: UploadName): Promise<void>;

  /** The bytes of a file; `undefined` where there is none. */
  size(file: FileName): Promise<number | undefined>;

  /** The part of a file in which a byte is, and where it begins. */
  read(
    file: FileName,
    byte: number,
  ): Promise<{ readonly from: number; readonly bytes: Uint8Array } | undefined>;

  /** Notes that a document names files. Those are not removed before another grace period. */
  name(collection: string, id: string, sha256: readonly string[]): Promise<void>;

  /** The ids of the documents that have named a file, at most `limit`, after one of them. */
  names(file: FileName, limit: number, after?: string): Promise<readonly string[]>;

  /** Notes that documents do not name a file any more, unless it was sent or named since. */
  unname(file: FileName, ids: readonly string[], since: Date): Promise<void>;

  /** Files that nobody has sent or named since, and uploads that went no further; some of them. */
  unused(since: Date): Promise<readonly FileName[]>;

  /**
   * Removes a file that nobody has sent or named since, and that no document names.
   *
   * @returns whether it was removed.
   */
  remove(file: FileName, since: Date): Promise<boolean>;

  /** Creates tables and the like. It may run again. */
  setup?(): Promise<void>;
}

interface Upload {
  parts: Uint8Array[];
  received: number;
  isDone: boolean;
  at: number;
}

interface File {
  parts: readonly Uint8Array[];
  readonly names: Set<string>;
  readonly uploads: Map<string, Upload>;
  at: number;
}

/**
 * Files in memory, for tests and demos.
 *
 * @param now The time in Unix milliseconds.
 */
export function memoryFiles(now: () => number = Date.now): FileStore {
  const files = new Map<string, File>();
  const keyOf = ({ collection, sha256 }: FileName) => JSON.stringify([collection, sha256]);
  const fileOf = (name: FileName): File => {
    const key = keyOf(name);
    const file = files.get(key) ?? {
      ...{ parts: [], names: new Set<string>(), uploads: new Map<string, Upload>() },
      at: now(),
    };
    files.set(key, file);
    return file;
  };
  const uploadOf = (name: UploadName): Upload => {
    const { uploads } = fileOf(name);
    const upload = uploads.get(name.device) ?? { parts: [], received: 0, isDone: false, at: now() };
    uploads.set(name.device, upload);
    return upload;
  };
  const isUnused = ({ at, uploads }: File, since: Date) =>
    [at, ...[...uploads.values()].map((one) => one.at)].every((one) => one < since.getTime());
  return {
    async received(name) {
      const upload = files.get(keyOf(name))?.uploads.get(name.device);
      return upload?.isDone ? undefined : (upload?.received ?? 0);
    },
    async append(name, from, bytes) {
      const upload = uploadOf(name);
      if (upload.received !== from || upload.isDone) return upload.received;
      upload.parts.push(bytes.slice());
      upload.received += bytes.length;
      upload.at = now();
      return upload.received;
    },
    async uploaded(name, from) {
      let at = 0;
      return uploadOf(name).parts.find(({ length }) => {
        at += length;
        return at - length === from;
      });
    },
    async finish(name) {
      const [file, upload] = [fileOf(name), uploadOf(name)];
      if (file.parts.length === 0) file.parts = upload.parts;
      file.at = now();
      Object.assign(upload, { parts: [], isDone: true });
    },
    async discard(name) {
      const uploads = files.get(keyOf(name))?.uploads;
      if (!uploads?.get(name.device)?.isDone) uploads?.delete(name.device);
    },
    async size(name) {
      const parts = files.get(keyOf(name))?.parts ?? [];
      return parts.length > 0 ? parts.reduce((sum, { length }) => sum + length, 0) : undefined;
    },
    async read(name, byte) {
      let from = 0;
      for (const bytes of files.get(keyOf(name))?.parts ?? []) {
        if (byte < from + bytes.length) return { from, bytes };
        from += bytes.length;
      }
      return undefined;
    },
    async name(collection, id, sha256) {
      for (const hash of sha256) {
        const file = fileOf({ collection, sha256: hash });
        file.names.add(id);
        file.at = now();
      }
    },
    async names(name, limit, after = '') {
      const ids = [...(files.get(keyOf(name))?.names ?? [])].sort();
      return ids.filter((id) => id > after).slice(0, limit);
    },
    async unname(name, ids, since) {
      const file = files.get(keyOf(name));
      if (file && isUnused(file, since)) for (const id of ids) file.names.delete(id);
    },
    async unused(since) {
      return [...files]
        .filter(([, file]) => isUnused(file, since))
        .map(([key]) => {
          const [collection, sha256] = JSON.parse(key) as [string, string];
          return { collection, sha256 };
        });
    },
    async remove(name, since) {
      const file = files.get(keyOf(name));
      if (!file || file.names.size > 0 || !isUnused(file, since)) return false;
      return files.delete(keyOf(name));
    },
  };
}
