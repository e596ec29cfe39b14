import { gunzip, gzip, joinBytes } from '../../backup/file/gzip.ts';
import { type TargetCalls, TargetError } from '../calls/target-calls.ts';
import { sha256 } from './sha256.ts';
import { partPath, partsPrefix } from './target-paths.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A part of a backup: the SHA-256 of its bytes, and how many there are, before compression. */
export type PartRef = readonly [sha256: string, size: number];

/** The compressed parts that a device has in a target, each under the hash of its content. */
export class PartStore {
  readonly #calls: TargetCalls;
  readonly #database: string;
  readonly #device: string;

  /** @param database The key of the database in paths. */
  constructor(calls: TargetCalls, database: string, device: string) {
    this.#calls = calls;
    this.#database = database;
    this.#device = device;
  }

  async list(): Promise<Set<string>> {
    return new Set(await this.#calls.list(partsPrefix(this.#database, this.#device)));
  }

  /** Whether a part is there, which a list may leave out. */
  async has(hash: string): Promise<boolean> {
    return (await this.#calls.get(this.path(hash))) !== undefined;
  }

  /** @returns the bytes that were sent. */
  async put(hash: string, bytes: Bytes): Promise<number> {
    const packed = await collect(gzip(once(bytes)), Number.POSITIVE_INFINITY);
    await this.#calls.put(this.path(hash), packed as Bytes);
    return (packed as Bytes).length;
  }

  /** @throws {TargetError} `target_damaged` where the part is missing or is not what was stored. */
  async get([hash, size]: PartRef): Promise<Bytes> {
    const packed = await this.#calls.get(this.path(hash));
    if (!packed) throw this.#damaged(hash, 'is missing');
    let bytes: Bytes | undefined;
    try {
      bytes = await collect(gunzip(once(packed)), size);
    } catch (cause) {
      throw this.#damaged(hash, 'cannot be unpacked', cause);
    }
    if (bytes?.length !== size || (await sha256(bytes)) !== hash)
      throw this.#damaged(hash, 'was changed');
    return bytes;
  }

  path(hash: string): string {
    return partPath(this.#database, this.#device, hash);
  }

  #damaged(hash: string, defect: string, cause?: unknown): TargetError {
    const place = this.path(hash);
    const message = `A part of the backup ${defect}: ${place}. Restore another backup; list() names them.`;
    return new TargetError('target_damaged', message, { place, cause });
  }
}

async function* once<T>(value: T): AsyncGenerator<T, void> {
  yield value;
}

/**
 * @returns `undefined` if there is more than `most`, which a hostile target could make of little.
 */
async function collect(source: AsyncIterable<Bytes>, most: number): Promise<Bytes | undefined> {
  const pieces: Bytes[] = [];
  let size = 0;
  for await (const piece of source) {
    size += piece.length;
    if (size > most) return undefined;
    pieces.push(piece);
  }
  return joinBytes(pieces, size);
}
