import {
  asInteger,
  asObject,
  asString,
  type JsonObject,
  onlyFields,
} from '../../codec/exact-json/json-checks.ts';
import { BackupError, Malformed } from '../../errors/errors.ts';
import {
  CHUNK,
  FILE_FORMAT,
  type FileHeader,
  type FilePart,
  type FileRecord,
  FORMAT_NUMBER,
  MAX_LINE,
} from './file-contents.ts';
import { fileDamaged, lineTooLong, newerFormat, notCairn, truncated } from './file-errors.ts';
import { gunzip, joinBytes } from './gzip.ts';
import { type SectionFormat, type SectionReader, SectionReader1 } from './section-reader-1.ts';

/** Reads the lines of a file, section by section, up to its last line. */
class LineReader {
  #line = 0;
  #section: SectionReader | undefined;
  readonly #collections = new Set<string>();
  /** Whether the first line was one of Cairn. */
  #known = false;
  #ended = false;

  /**
   * @param block Whole lines.
   * @throws {BackupError}
   */
  *read(block: Uint8Array): Generator<FilePart, void> {
    const lines = this.#attempt(() => decoder.decode(block).split('\n'));
    lines.pop(); // empty: a block ends with a newline
    let records: FileRecord[] = [];
    /** The first byte that no checksum covers, and the index of its line. */
    let from = 0;
    let fromLine = 0;
    for (let at = 0; at < lines.length; at++) {
      this.#line++;
      const line = lines[at] as string;
      const section = this.#section;
      if (!section) {
        const header = this.#attempt(() => this.#open(line));
        if (header) yield { kind: 'header', header };
        continue;
      }
      const found = this.#attempt(() => section.read(parse(line), this.#line));
      if (found === undefined) continue;
      if (found !== 'end') {
        records.push(found);
        continue;
      }
      if (records.length > 0) yield { kind: 'records', records };
      records = [];
      const to = afterLines(block, from, at - fromLine);
      section.checksum.update(block.subarray(from, to));
      this.#attempt(() => section.verify());
      yield { kind: 'end', documents: section.header.documents };
      this.#section = undefined;
      from = afterLines(block, to, 1);
      fromLine = at + 1;
    }
    this.#section?.checksum.update(block.subarray(from));
    if (records.length > 0) yield { kind: 'records', records };
  }

  /** Call it after the last block. @throws {BackupError} unless the file's last line was read. */
  end(): void {
    if (!this.#ended) throw this.cutOff();
  }

  cutOff(): BackupError {
    return this.#known ? truncated() : notCairn();
  }

  nextLineTooLong(): BackupError {
    return this.#known ? lineTooLong(`line ${this.#line + 1}`) : notCairn();
  }

  /** Reads a line outside of sections: a header, or the file's last line. */
  #open(line: string): FileHeader | undefined {
    if (this.#ended) throw new Malformed('something follows the last line');
    const content = parse(line);
    const Section = formatOf(content, `line ${this.#line}`);
    this.#known = true;
    if ('sections' in content) {
      onlyFields(content, LAST_LINE);
      const { size } = this.#collections;
      if (asInteger(content.sections, '"sections"', 0) !== size) {
        throw new Malformed(`there should be ${content.sections} collections, not ${size}`);
      }
      this.#ended = true;
      return undefined;
    }
    const section = new Section(content);
    const { collection } = section.header;
    if (this.#collections.has(collection))
      throw new Malformed(`"${collection}" comes a second time`);
    this.#collections.add(collection);
    this.#section = section;
    return section.header;
  }

  /**
   * Any error of a line is damage of the file; before the first valid line, the file is not one of
   * Cairn.
   */
  #attempt<Result>(step: () => Result): Result {
    try {
      return step();
    } catch (error) {
      if (error instanceof BackupError) throw error;
      if (!this.#known) throw notCairn(error);
      const why = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
      throw fileDamaged(`line ${this.#line}`, why, error);
    }
  }
}

const NEWLINE = 10;

/** The line after the last block is over the limit. */
class EndlessLine extends Error {}

/** Bytes follow the last newline. */
class UnfinishedLine extends Error {}

/**
 * Reads a file that `writeFile` of this or an earlier version wrote. Every record is checked and
 * can be stored; the caller has to refuse two records of one key.
 *
 * The file is valid only once the generator is done: until then the caller must not apply its
 * parts.
 *
 * @param bytes In chunks of any size; ended when the generator ends.
 * @throws {BackupError} `file_not_gzip`, `file_not_cairn`, `file_newer`, `file_truncated`,
 *   `file_damaged`, `file_unsupported`, `record_too_large`. Errors of `bytes` come out as they are.
 */
export async function* readFile(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FilePart, void> {
  const reader = new LineReader();
  try {
    for await (const block of lineBlocks(gunzip(bytes))) yield* reader.read(block);
  } catch (error) {
    if (error instanceof UnfinishedLine) throw reader.cutOff();
    if (error instanceof EndlessLine) throw reader.nextLineTooLong();
    throw error;
  }
  reader.end();
}

const LAST_LINE = new Set(['format', 'format_number', 'version', 'sections']);
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parse(line: string): JsonObject {
  return asObject(JSON.parse(line), 'it');
}

/** The end of as many lines that begin at `from`. */
function afterLines(bytes: Uint8Array, from: number, lines: number): number {
  let at = from;
  for (let count = 0; count < lines; count++) at = bytes.indexOf(NEWLINE, at) + 1;
  return at;
}

/** Readers by format number. No format is ever removed. */
const formats: Readonly<Record<number, SectionFormat>> = { 1: SectionReader1 };

/**
 * The reader for a header or for a file's last line, by its format number.
 *
 * @param place The line, for errors.
 * @throws {BackupError} `file_not_cairn`, `file_newer`.
 */
function formatOf(line: JsonObject, place: string): SectionFormat {
  if (line.format !== FILE_FORMAT) throw notCairn();
  const number = asInteger(line.format_number, '"format_number"', 1);
  const format = formats[number];
  if (!format) throw newerFormat(number, FORMAT_NUMBER, line.version, place);
  asString(line.version, '"version"');
  return format;
}

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Groups bytes into blocks of about {@link CHUNK} that end with a newline.
 *
 * @throws {EndlessLine}
 * @throws {UnfinishedLine}
 */
async function* lineBlocks(chunks: AsyncIterable<Bytes>): AsyncGenerator<Bytes, void> {
  let parts: Bytes[] = [];
  let size = 0;
  /** Bytes up to the last newline. */
  let whole = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) whole = size + end;
    parts.push(chunk);
    size += chunk.length;
    if (size < CHUNK) continue;
    if (whole > 0) {
      const all = joinBytes(parts, size);
      yield all.subarray(0, whole);
      parts = [all.subarray(whole)];
      size -= whole;
      whole = 0;
    }
    if (size > MAX_LINE) throw new EndlessLine();
  }
  if (whole > 0) yield joinBytes(parts, size).subarray(0, whole);
  if (whole < size) throw new UnfinishedLine();
}
