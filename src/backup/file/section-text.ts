import { StorageError } from '../../errors/storage-error.ts';
import { binaryLines } from './binary-lines.ts';
import { type ExactJson, encodeExact, TooLong } from './exact-encoding.ts';
import type { FileHeader, FileRecord, FileSection } from './file-contents.ts';
import { textTooLarge } from './file-errors.ts';
import { MAX_LINE, TEXT } from './limits.ts';
import { ORIGIN } from './origin.ts';

/** UTF-8 has at most three bytes for what a string counts as one. */
const NEVER_TOO_LONG = MAX_LINE / 3;

/**
 * The lines of a section but its last one, gathered to some {@link TEXT}.
 *
 * @throws {BackupError} `record_too_large`, naming the document.
 * @throws {StorageError} where there are not as many records as the header says.
 */
export async function* sectionText({ header, records }: FileSection): AsyncGenerator<string> {
  const { collection, type, created_at, label, options } = header;
  const first = { ...ORIGIN, collection, type, created_at, label, options };
  let text = `${JSON.stringify({ ...first, documents: header.documents })}\n`;
  let documents = 0;
  for await (const batch of records) {
    for (const record of batch) {
      const { body } = record;
      if (typeof body === 'string') {
        text += recordLine(record, 'body', body, header);
      } else {
        const { json, binaries } = exactJson(body.exact, record, header);
        for await (const line of binaryLines(binaries, placeOf(record, header))) {
          text += line;
          if (text.length < TEXT) continue;
          yield text;
          text = '';
        }
        text += recordLine(record, 'exact', json, header);
      }
      if (text.length < TEXT) continue;
      yield text;
      text = '';
    }
    documents += batch.length;
  }
  if (documents !== header.documents) throw miscounted(header, documents);
  yield text;
}

/** The value is JSON already: it is not looked at again. */
function recordLine(
  record: FileRecord,
  form: 'body' | 'exact',
  json: string,
  header: FileHeader,
): string {
  const { key, order, flags, stamps } = record;
  if (json.length > MAX_LINE) throw textTooLarge(placeOf(record, header));
  const times = stamps ? `,"stamps":[${stamps.join()}]` : '';
  const line = `{"key":${JSON.stringify(key)},"order":${order},"flags":${flags}${times},"${form}":${json}}\n`;
  if (line.length > NEVER_TOO_LONG && new TextEncoder().encode(line).length > MAX_LINE) {
    throw textTooLarge(placeOf(record, header));
  }
  return line;
}

function exactJson(value: unknown, record: FileRecord, header: FileHeader): ExactJson {
  try {
    return encodeExact(value);
  } catch (error) {
    throw error instanceof TooLong ? textTooLarge(placeOf(record, header)) : error;
  }
}

function placeOf({ key }: FileRecord, { collection }: FileHeader): string {
  return `"${key}" of the collection "${collection}"`;
}

function miscounted({ collection, documents }: FileHeader, found: number): StorageError {
  const message =
    `The collection "${collection}" should have ${documents} documents to export, and ${found} were found. ` +
    'Its data is damaged: restore a backup.';
  return new StorageError('data_damaged', message, { place: collection });
}
