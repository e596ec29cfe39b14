import { BackupError } from '../../errors/backup-error.ts';
import type { FileHeader, FilePart, FileRecord } from './file-contents.ts';
import { damaged, notCairn, textTooLarge, truncated } from './file-errors.ts';
import { asInteger, asObject, Flaw, type JsonObject, onlyFields } from './flaw.ts';
import { formatOf } from './formats.ts';
import type { SectionReader } from './section-format.ts';

const NEWLINE = 10;
const LAST_LINE = new Set(['format', 'format_number', 'version', 'sections']);
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Goes through the lines of a file, section by section, to the line that ends it. */
export class FileReading {
  /** Number of the line that is read, or was last. */
  #line = 0;
  #section: SectionReader | undefined;
  readonly #collections = new Set<string>();
  #known = false;
  #ended = false;

  /**
   * @param block Whole lines.
   * @throws {BackupError}
   */
  *read(block: Uint8Array): Generator<FilePart, void> {
    const lines = this.#attempt(() => decoder.decode(block).split('\n'));
    lines.pop(); // what is behind the last newline
    let records: FileRecord[] = [];
    /** The first byte that no checksum has seen, and the place in `lines` of the line it begins. */
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

  /** Called when there are no more lines. @throws {BackupError} unless the last one was the one that ends a file. */
  end(): void {
    if (!this.#ended) throw this.cut();
  }

  /** What to throw where a line has no end. */
  cut(): BackupError {
    return this.#known ? truncated() : notCairn();
  }

  /** What to throw where the next line is too long. */
  endless(): BackupError {
    return this.#known ? textTooLarge(`line ${this.#line + 1}`) : notCairn();
  }

  /** Takes a line outside of sections: a header, or the last one. */
  #open(line: string): FileHeader | undefined {
    if (this.#ended) throw new Flaw('something follows the last line');
    const content = parse(line);
    const Section = formatOf(content, `line ${this.#line}`);
    this.#known = true;
    if ('sections' in content) {
      onlyFields(content, LAST_LINE);
      const { size } = this.#collections;
      if (asInteger(content.sections, '"sections"', 0) !== size) {
        throw new Flaw(`there should be ${content.sections} collections, not ${size}`);
      }
      this.#ended = true;
      return undefined;
    }
    const section = new Section(content);
    const { collection } = section.header;
    if (this.#collections.has(collection)) throw new Flaw(`"${collection}" comes a second time`);
    this.#collections.add(collection);
    this.#section = section;
    return section.header;
  }

  /** Whatever goes wrong with a line is damage of the file; before anything was known, it is none of ours. */
  #attempt<Result>(step: () => Result): Result {
    try {
      return step();
    } catch (error) {
      if (error instanceof BackupError) throw error;
      if (!this.#known) throw notCairn(error);
      const why = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
      throw damaged(`line ${this.#line}`, why, error);
    }
  }
}

function parse(line: string): JsonObject {
  return asObject(JSON.parse(line), 'it');
}

/** Where `lines` lines end that begin at `from`. */
function afterLines(bytes: Uint8Array, from: number, lines: number): number {
  let at = from;
  for (let count = 0; count < lines; count++) at = bytes.indexOf(NEWLINE, at) + 1;
  return at;
}
