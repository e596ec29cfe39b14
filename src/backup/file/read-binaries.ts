import { fromBase64 } from './base64.ts';
import type { Binaries } from './exact-decoding.ts';
import { binaryTooLarge } from './file-errors.ts';
import { asString, Flaw, type JsonObject, onlyFields } from './flaw.ts';
import { joinBytes } from './join-bytes.ts';
import { MAX_BINARY, MAX_LINE, PIECE } from './limits.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** More than this many a record has no room to refer to. */
const MOST = MAX_LINE / 32;

const FIELDS = { blob: new Set(['blob', 'base64']), buffer: new Set(['buffer', 'base64']) };

interface Binary {
  readonly kind: 'blob' | 'buffer';
  readonly parts: (Bytes | Blob)[];
  /** Whether its last piece may have another behind it. */
  open: boolean;
  taken: boolean;
}

/** Gathers the lines of bytes that come before a record, and gives them to the one who decodes it. */
export class ReadBinaries implements Binaries {
  #all: Binary[] = [];
  #size = 0;

  /**
   * @param place What errors call the line.
   * @throws {Flaw}
   * @throws {BackupError} `record_too_large`.
   */
  add(line: JsonObject, place: string): void {
    const kind = 'blob' in line ? 'blob' : 'buffer';
    onlyFields(line, FIELDS[kind]);
    const bytes = fromBase64(asString(line.base64, 'the content'));
    this.#size += bytes.length;
    if (this.#size > MAX_BINARY || this.#all.length > MOST) throw binaryTooLarge(place);
    const binary = this.#at(line[kind], kind);
    binary.open = bytes.length === PIECE;
    // A Blob rests outside of the heap, and on disk if it is large.
    binary.parts.push(kind === 'blob' && binary.open ? new Blob([bytes]) : bytes);
  }

  takeBytes(place: unknown): Bytes {
    const parts = this.#take(place, 'buffer') as Bytes[];
    return joinBytes(
      parts,
      parts.reduce((size, part) => size + part.length, 0),
    );
  }

  takeParts(place: unknown): BlobPart[] {
    return this.#take(place, 'blob');
  }

  /** Forgets what the record took. @throws {Flaw} if it did not take all. */
  finish(): void {
    if (this.#all.length === 0) return;
    if (!this.#all.every(({ taken }) => taken)) throw new Flaw('binary data belongs to nothing');
    this.#all = [];
    this.#size = 0;
  }

  #at(place: unknown, kind: Binary['kind']): Binary {
    const last = this.#all.at(-1);
    if (place === this.#all.length - 1 && last?.open && last.kind === kind) return last;
    if (place !== this.#all.length) throw new Flaw('binary data is out of order');
    const binary: Binary = { kind, parts: [], open: false, taken: false };
    this.#all.push(binary);
    return binary;
  }

  #take(place: unknown, kind: Binary['kind']): Binary['parts'] {
    const binary = this.#all[place as number];
    if (binary?.kind !== kind || binary.taken) throw new Flaw('there is no such binary data');
    binary.taken = true;
    return binary.parts;
  }
}
