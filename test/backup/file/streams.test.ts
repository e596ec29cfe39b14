import { describe, expect, test } from 'vitest';
import type { FilePart } from '../../../src/backup/file/file-contents.ts';
import { readFile } from '../../../src/backup/file/read-file.ts';
import { writeFile } from '../../../src/backup/file/section-writer.ts';
import { type Bytes, chunksOf, joined, partsOf, read, record, section, write } from './files.ts';

/** Hardly compressible, so that output appears soon. */
const noise = (order: number) =>
  JSON.stringify(
    Array.from({ length: 40 }, (_, at) => Math.imul(order * 40 + at, 0x9e3779b1) >>> 0),
  );

/** Endless batches of records that note their count and their end. */
function endless(seen = { batches: 0, ended: 0 }) {
  const { header } = section([], { documents: Number.MAX_SAFE_INTEGER });
  const parts = (async function* (): AsyncGenerator<FilePart> {
    try {
      yield { kind: 'header', header };
      for (let order = 1; ; order += 100) {
        seen.batches++;
        const records = Array.from({ length: 100 }, (_, at) =>
          record(order + at, noise(order + at)),
        );
        yield { kind: 'records', records };
      }
    } finally {
      seen.ended++;
    }
  })();
  return { seen, parts };
}

/** A source that notes its reads and its end. */
function counted(chunks: AsyncIterable<Bytes>, seen = { chunks: 0, ended: 0 }) {
  const source = (async function* () {
    try {
      for await (const chunk of chunks) {
        seen.chunks++;
        yield chunk;
      }
    } finally {
      seen.ended++;
    }
  })();
  return { seen, source };
}

const many = [section(Array.from({ length: 5000 }, (_, at) => record(at + 1, noise(at + 1))))];

/** Runs all pending work: streams pass chunks in microtasks and a few turns. */
async function untilIdle(count: () => number): Promise<void> {
  let calm = 0;
  for (let last = count(); calm < 20; ) {
    await new Promise((resolve) => setTimeout(resolve));
    calm = count() === last ? calm + 1 : 0;
    last = count();
  }
}

describe('writing', () => {
  test('begins at the first read and buffers a bounded amount', async () => {
    const { seen, parts } = endless();
    const file = writeFile(parts);
    await untilIdle(() => seen.batches);
    expect(seen.batches).toBe(0);
    for (let chunk = 1; chunk <= 4; chunk++) {
      expect((await file.next()).done).toBe(false);
      await untilIdle(() => seen.batches);
      // A chunk of 64 kB is about four batches; some more may be buffered.
      expect(seen.batches).toBeLessThan(15 + 10 * chunk);
    }
    await file.return();
  });

  test('produces chunks of 64 kB and more', async () => {
    const sizes: number[] = [];
    for await (const chunk of writeFile(partsOf(many))) sizes.push(chunk.length);
    expect(sizes.length).toBeGreaterThan(4);
    for (const size of sizes.slice(0, -1)) {
      expect(size).toBeGreaterThanOrEqual(64 * 1024);
      expect(size).toBeLessThan(512 * 1024);
    }
  });

  test('ends its source when its reader cancels', async () => {
    const { seen, parts } = endless();
    for await (const _ of writeFile(parts)) break;
    expect(seen.ended).toBe(1);
    const unread = endless();
    await writeFile(unread.parts).return();
    expect(unread.seen).toEqual({ batches: 0, ended: 0 });
  });

  test('passes on the errors of its source', async () => {
    const problem = new Error('the disk is gone');
    const { seen, parts } = endless();
    const failing = (async function* (): AsyncGenerator<FilePart> {
      for await (const part of parts) {
        yield part;
        if (seen.batches > 30) throw problem;
      }
    })();
    await expect(joined(writeFile(failing))).rejects.toBe(problem);
    expect(seen.ended).toBe(1);
  });

  test('refuses a wrong count, which no reader would accept', async () => {
    for (const documents of [1, 3]) {
      const wrong = section([record(1), record(2)], { documents });
      await expect(write([wrong])).rejects.toMatchObject({
        code: 'data_damaged',
        place: 'users',
        message: `The collection "users" should have ${documents} documents to export, and 2 were found. Its data is damaged: restore a backup.`,
      });
    }
  });

  test('names the document of an unreadable Blob', async () => {
    const gone = new Blob(['gone']);
    Object.defineProperty(gone, 'slice', {
      value: () => ({ arrayBuffer: () => Promise.reject(new Error('NotReadable')) }),
    });
    await expect(write([section([record(1, { exact: gone })])])).rejects.toMatchObject({
      code: 'storage_failed',
      place: '"key-1" of the collection "users"',
    });
  });
});

describe('reading', () => {
  test('reads no more of its source than needed', async () => {
    const file = await write(many);
    const { seen, source } = counted(chunksOf(file, 4096));
    const parts = readFile(source);
    await untilIdle(() => seen.chunks);
    expect(seen.chunks).toBe(0);
    expect((await parts.next()).value).toMatchObject({ kind: 'header' });
    await untilIdle(() => seen.chunks);
    expect(seen.chunks).toBeLessThan(file.length / 4096 / 2);
    await parts.return();
    expect(seen.ended).toBe(1);
  });

  test('produces batches of records for any chunks', async () => {
    const file = await write(many);
    for (const chunk of [1000, 50_000, file.length]) {
      const sizes: number[] = [];
      for await (const part of readFile(chunksOf(file, chunk))) {
        if (part.kind === 'records') sizes.push(part.records.length);
      }
      expect(Math.max(...sizes)).toBeLessThan(2000);
      expect(sizes.length).toBeLessThan(40);
    }
    expect(await read(file, 777)).toEqual(await read(file));
  });

  test('ends its source when its reader stops, or at damage', async () => {
    const file = await write(many);
    const { seen, source } = counted(chunksOf(file, 1000));
    for await (const part of readFile(source)) if (part.kind === 'records') break;
    expect(seen.ended).toBe(1);

    const wrong = file.slice();
    wrong.fill(0, file.length / 2, file.length / 2 + 200);
    const damaged = counted(chunksOf(wrong, 1000));
    await expect(joined(readFile(damaged.source) as never)).rejects.toMatchObject({
      code: 'file_damaged',
    });
    expect(damaged.seen.ended).toBe(1);
  });

  test('passes on the errors of its source', async () => {
    const file = await write(many);
    const problem = new TypeError('network error');
    for (const good of [0, 1, 2, 20]) {
      const source = (async function* () {
        let count = 0;
        for await (const chunk of chunksOf(file, 1000)) {
          if (count++ === good) throw problem;
          yield chunk;
        }
      })();
      await expect(joined(readFile(source) as never)).rejects.toBe(problem);
    }
  });

  test('allows reuse of the memory of its chunks', async () => {
    const file = await write(many);
    const memory = new Uint8Array(5000);
    const source = (async function* () {
      for await (const chunk of chunksOf(file, memory.length)) {
        memory.set(chunk);
        yield memory.subarray(0, chunk.length);
        memory.fill(0);
      }
    })();
    let records = 0;
    for await (const part of readFile(source)) {
      if (part.kind === 'records') records += part.records.length;
    }
    expect(records).toBe(5000);
  });

  test('reads platform streams', async () => {
    const file = await write(many);
    const { readable, writable } = new TransformStream<Bytes, Bytes>();
    void new Blob([file]).stream().pipeTo(writable);
    const reader = readable.getReader();
    const source = (async function* () {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    })();
    const kinds = new Set<string>();
    for await (const part of readFile(source)) kinds.add(part.kind);
    expect([...kinds]).toEqual(['header', 'records', 'end']);
  });
});

test.each(['CompressionStream', 'DecompressionStream'])(
  'a platform without %s is a typed error',
  async (name) => {
    const file = await write([]);
    const known = Object.getOwnPropertyDescriptor(globalThis, name)!;
    Reflect.deleteProperty(globalThis, name);
    try {
      const attempt = name === 'CompressionStream' ? write([]) : read(file);
      await expect(attempt).rejects.toMatchObject({ code: 'file_unsupported', place: name });
    } finally {
      Object.defineProperty(globalThis, name, known);
    }
  },
);
