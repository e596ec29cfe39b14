import { fromBase64 } from '../../../codec/exact-json/base64.ts';
import type { BinarySource } from '../../../codec/exact-json/exact-decoding.ts';
import {
  asString,
  type JsonObject,
  Malformed,
  onlyFields,
} from '../../../codec/exact-json/json-checks.ts';
import { binaryTooLarge } from '../file-errors.ts';
import { joinBytes } from '../join-bytes.ts';
import { BINARY_LINE, MAX_BINARY, MAX_LINE } from '../limits.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Most binaries that the line of a record has room to refer to. */
const MOST = MAX_LINE / 32;

const FIELDS = { blob: new Set(['blob', 'base64']), buffer: new Set(['buffer', 'base64']) };

interface Binary {
  readonly kind: 'blob' | 'buffer';
  readonly parts: (Bytes | Blob)[];
  /** Whether its next line may continue it. */
  open: boolean;
  taken: boolean;
}

/** Collects the lines of binary data before a record, for decoding the record. */
export class BinaryReader implements BinarySource {
  #all: Binary[] = [];
  #size = 0;

  /**
   * @param place The line, for errors.
   * @throws {Malformed}
   * @throws {BackupError} `record_too_large`.
   */
  add(line: JsonObject, place: string): void {
    const kind = 'blob' in line ? 'blob' : 'buffer';
    onlyFields(line, FIELDS[kind]);
    const bytes = fromBase64(asString(line.base64, 'the content'));
    this.#size += bytes.length;
    if (this.#size > MAX_BINARY || this.#all.length > MOST) throw binaryTooLarge(place);
    const binary = this.#at(line[kind], kind);
    binary.open = bytes.length === BINARY_LINE;
    // Blobs are kept outside of the heap, large ones on disk.
    binary.parts.push(kind === 'blob' && binary.open ? new Blob([bytes]) : bytes);
  }

  takeBytes(index: unknown): Bytes {
    const parts = this.#take(index, 'buffer') as Bytes[];
    return joinBytes(
      parts,
      parts.reduce((size, part) => size + part.length, 0),
    );
  }

  takeParts(index: unknown): BlobPart[] {
    return this.#take(index, 'blob');
  }

  /** Call it after each record. @throws {Malformed} if the record did not take all. */
  finish(): void {
    if (this.#all.length === 0) return;
    if (!this.#all.every(({ taken }) => taken))
      throw new Malformed('binary data belongs to nothing');
    this.#all = [];
    this.#size = 0;
  }

  #at(index: unknown, kind: Binary['kind']): Binary {
    const last = this.#all.at(-1);
    if (index === this.#all.length - 1 && last?.open && last.kind === kind) return last;
    if (index !== this.#all.length) throw new Malformed('binary data is out of order');
    const binary: Binary = { kind, parts: [], open: false, taken: false };
    this.#all.push(binary);
    return binary;
  }

  #take(index: unknown, kind: Binary['kind']): Binary['parts'] {
    const binary = this.#all[index as number];
    if (binary?.kind !== kind || binary.taken) throw new Malformed('there is no such binary data');
    binary.taken = true;
    return binary.parts;
  }
}
