import { Crc32 } from '../../../src/backup/file/crc32.ts';
import type { FileHeader, FilePart, FileRecord } from '../../../src/backup/file/file-contents.ts';
import { readFile } from '../../../src/backup/file/read-file.ts';
import { writeFile } from '../../../src/backup/file/section-writer.ts';
import { CairnError } from '../../../src/errors/errors.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

export interface Section {
  readonly header: FileHeader;
  readonly records: readonly FileRecord[];
}

/** A collection of documents. */
export function section(records: readonly FileRecord[], header: Partial<FileHeader> = {}): Section {
  const { length: documents } = records;
  return {
    header: {
      collection: 'users',
      type: 'KEY_VALUE_BASED',
      created_at: 1_790_000_000_000,
      options: { indexes: ['email'] },
      documents,
      ...header,
    },
    records,
  };
}

export function record(order: number, body: FileRecord['body'] = `{"n":${order}}`): FileRecord {
  return { key: `key-${order}`, order, flags: 0, stamps: undefined, body };
}

/** The parts of sections, with records in batches. */
export async function* partsOf(
  sections: readonly Section[],
  batch = 100,
): AsyncGenerator<FilePart> {
  for (const { header, records } of sections) {
    yield { kind: 'header', header };
    for (let at = 0; at < records.length; at += batch)
      yield { kind: 'records', records: records.slice(at, at + batch) };
    yield { kind: 'end', documents: records.length };
  }
}

/** The bytes of a file. */
export async function write(sections: readonly Section[], batch?: number): Promise<Bytes> {
  return joined(writeFile(partsOf(sections, batch)));
}

/** The content of a file, read to its end. */
export async function read(bytes: Bytes, chunk = bytes.length): Promise<Section[]> {
  const sections: { header: FileHeader; records: FileRecord[] }[] = [];
  let ends = 0;
  for await (const part of readFile(chunksOf(bytes, chunk))) {
    if (part.kind === 'header') sections.push({ header: part.header, records: [] });
    else if (part.kind === 'records') sections.at(-1)?.records.push(...part.records);
    else if (part.documents === sections.at(-1)?.records.length) ends++;
  }
  if (ends !== sections.length) throw new Error('The parts do not fit together.');
  return sections;
}

export async function* chunksOf(bytes: Bytes, size: number): AsyncGenerator<Bytes> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The code and message of the error of reading a file. */
export async function refusal(bytes: Bytes, chunk?: number): Promise<string> {
  try {
    await read(bytes, chunk);
  } catch (error) {
    if (error instanceof CairnError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'none';
}

export function gzipped(content: string | Bytes): Promise<Bytes> {
  return through(content, new CompressionStream('gzip'));
}

/** The most bytes in a stored deflate block. */
const BLOCK = 0xffff;

/**
 * gzip without compression: a test with thousands of files would spend most of its time on starting
 * compressors.
 */
export function stored(content: Bytes): Bytes {
  if (content.length > BLOCK) throw new Error('This is too much for one block.');
  const checksum = new Crc32();
  checksum.update(content);
  const file = new Uint8Array(content.length + 23);
  const view = new DataView(file.buffer);
  file.set([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1]);
  view.setUint16(11, content.length, true);
  view.setUint16(13, ~content.length, true);
  file.set(content, 15);
  view.setUint32(file.length - 8, Number.parseInt(checksum.digest(), 16), true);
  view.setUint32(file.length - 4, content.length, true);
  return file;
}

export async function unpacked(file: Bytes): Promise<string> {
  return new TextDecoder().decode(await through(file, new DecompressionStream('gzip')));
}

async function through(
  content: string | Bytes,
  stream: CompressionStream | DecompressionStream,
): Promise<Bytes> {
  const bytes = new Blob([content]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(bytes).arrayBuffer());
}

export async function joined(chunks: AsyncIterable<Bytes>): Promise<Bytes> {
  const all: Bytes[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return new Uint8Array(await new Blob(all).arrayBuffer());
}

const ORIGIN = { format: 'cairn-backup', format_number: 1, version: '0.1.0' };

export const HEADER = {
  ...ORIGIN,
  collection: 'users',
  type: 'KEY_VALUE_BASED',
  created_at: 0,
  options: {},
};

/**
 * A handmade file of one section with correct counts and checksum, so that only its lines can be
 * wrong.
 */
export function sealed(
  lines: readonly string[],
  { header = {}, end = {}, last = {} }: { header?: object; end?: object; last?: object } = {},
): Promise<Bytes> {
  const documents = lines.filter((line) => !line.includes('"base64"')).length;
  const content = [JSON.stringify({ ...HEADER, documents, ...header }), ...lines, ''].join('\n');
  const checksum = new Crc32();
  checksum.update(new TextEncoder().encode(content));
  const tail = [
    { end: true, documents, crc32: checksum.digest(), ...end },
    { ...ORIGIN, sections: 1, ...last },
  ];
  return gzipped(`${content}${tail.map((line) => `${JSON.stringify(line)}\n`).join('')}`);
}
