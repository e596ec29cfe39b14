import { type Parser, parse } from 'papaparse';

/** Rows of a file, some at a time. */
type Rows = AsyncGenerator<readonly Record<string, unknown>[], void>;

const CHARACTERS_A_CHUNK = 200_000;
const ROWS_A_BATCH = 500;

/** What a file cannot be read as, in words for whoever chose it. */
export class UnreadableFile extends Error {}

/** The rows of a file of JSON, one JSON a line, or CSV, told by its name or else by how it begins. */
export async function* fileRows(file: File): Rows {
  const start = (await file.slice(0, 200).text()).trimStart();
  const name = file.name.toLowerCase();
  if (/\.(csv|tsv)$/.test(name)) yield* csvRows(file);
  else if (/\.(ndjson|jsonl)$/.test(name)) yield* lineRows(file);
  else if (start.startsWith('[')) yield* arrayRows(file);
  else if (start.startsWith('{')) yield* lineRows(file);
  else yield* csvRows(file);
}

async function* arrayRows(file: File): Rows {
  const rows = readJson(await file.text(), file.name) as Record<string, unknown>[];
  for (let from = 0; from < rows.length; from += ROWS_A_BATCH) {
    yield rows.slice(from, from + ROWS_A_BATCH);
  }
}

async function* lineRows(file: File): Rows {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let number = 0;
  for (;;) {
    const { done, value = '' } = await reader.read();
    const lines = (rest + value).split('\n');
    rest = done ? '' : (lines.pop() ?? '');
    const rows: Record<string, unknown>[] = [];
    for (const line of lines) {
      number += 1;
      if (line.trim())
        rows.push(readJson(line, `${file.name}, line ${number}`) as (typeof rows)[0]);
    }
    if (rows.length > 0) yield rows;
    if (done) return;
  }
}

async function* csvRows(file: File): Rows {
  const reader = csvStream(file).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

/** Papa Parse reads on only when the rows before have been taken. */
function csvStream(file: File): ReadableStream<Record<string, unknown>[]> {
  let parser: Parser | undefined;
  return new ReadableStream({
    start(controller) {
      parse<Record<string, unknown>>(file, {
        header: true,
        dynamicTyping: true,
        skipEmptyLines: true,
        chunkSize: CHARACTERS_A_CHUNK,
        chunk({ data }, running) {
          parser = running;
          parser.pause();
          controller.enqueue(data);
        },
        complete: () => controller.close(),
        error: (error) => controller.error(error),
      });
    },
    pull: () => parser?.resume(),
    cancel: () => parser?.abort(),
  });
}

function readJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new UnreadableFile(`${place} is not JSON: ${message}`, { cause });
  }
}
