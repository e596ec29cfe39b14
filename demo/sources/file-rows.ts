import { type ParseResult, type Parser, parse } from 'papaparse';
import type { Answer } from './json-worker.ts';

type Row = Readonly<Record<string, unknown>>;

/** Rows of a file in batches. JSON rows can be anything. */
type Rows = AsyncGenerator<readonly unknown[], void>;

const CHARACTERS_A_CHUNK = 50_000;
const ROWS_A_BATCH = 500;
const BYTES_LOOKED_AT = 65_536;

/** The file cannot be read; the message is for the visitor. */
export class UnreadableFile extends Error {}

/**
 * The rows of a JSON, NDJSON or CSV file, recognised by its name or its first characters.
 *
 * @throws {UnreadableFile}
 */
export async function* fileRows(file: File): Rows {
  const start = await startOf(file);
  const name = file.name.toLowerCase();
  if (/\.(csv|tsv)$/.test(name)) yield* csvRows(file);
  else if (/\.(ndjson|jsonl)$/.test(name)) yield* lineRows(file);
  else if (isJsonByLines(start)) yield* lineRows(file);
  else if (name.endsWith('.json') || /^[[{]/.test(start)) yield* jsonRows(file);
  else yield* csvRows(file);
}

async function startOf(file: File): Promise<string> {
  const bytes = await file.slice(0, BYTES_LOOKED_AT).arrayBuffer();
  try {
    // As a stream, because the chunk may end inside a character.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    if (!text.includes('\0')) return text.trimStart();
  } catch {
    // Not UTF-8: refused below, like text with zeros.
  }
  throw new UnreadableFile(`${file.name} is not text in UTF-8. Take a file of JSON or CSV.`);
}

function isJsonByLines(start: string): boolean {
  const [first = '', second = ''] = start.split('\n', 2);
  return first.startsWith('{') && first.trimEnd().endsWith('}') && second.startsWith('{');
}

async function* jsonRows(file: File): Rows {
  const worker = new Worker(new URL('./json-worker.ts', import.meta.url), { type: 'module' });
  try {
    for (;;) {
      const answer = await ask(worker, file);
      if ('problem' in answer) {
        throw new UnreadableFile(`${file.name} is not JSON: ${answer.problem}`);
      }
      if (answer.rows.length === 0) return;
      yield answer.rows;
    }
  } finally {
    worker.terminate();
  }
}

function ask(worker: Worker, file: File): Promise<Answer> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(file);
  });
}

async function* lineRows(file: File): Rows {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let number = 0;
  for (;;) {
    const { done, value = '' } = await reader.read();
    const lines = (rest + value).split('\n');
    rest = done ? '' : (lines.pop() ?? '');
    let rows: unknown[] = [];
    for (const line of lines) {
      number += 1;
      if (line.trim()) rows.push(readLine(line, `${file.name}, line ${number}`));
      if (rows.length < ROWS_A_BATCH) continue;
      yield rows;
      rows = [];
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

/** Papa Parse waits until the previous rows are consumed. */
function csvStream(file: File): ReadableStream<Row[]> {
  let parser: Parser | undefined;
  let rows = 0;
  return new ReadableStream({
    start(controller) {
      parse<Row>(file, {
        header: true,
        dynamicTyping: true,
        skipEmptyLines: true,
        chunkSize: CHARACTERS_A_CHUNK,
        chunk(result, running) {
          parser = running;
          const problem = problemOf(result, file.name, rows);
          if (problem) {
            controller.error(problem);
            parser.abort();
            return;
          }
          rows += result.data.length;
          parser.pause();
          controller.enqueue(result.data);
        },
        complete: ({ meta }) => {
          if (!meta.aborted) controller.close();
        },
        error: (error) => controller.error(error),
      });
    },
    pull: () => parser?.resume(),
    cancel: () => parser?.abort(),
  });
}

/** Errors that make rows ambiguous. A row with too few fields is allowed. */
function problemOf(
  { data, errors, meta }: ParseResult<Row>,
  file: string,
  before: number,
): UnreadableFile | undefined {
  if (errors.some(({ type }) => type === 'Quotes')) {
    return new UnreadableFile(`${file} is no CSV: somewhere a quote is opened and not closed.`);
  }
  const long = data.findIndex((row) => '__parsed_extra' in row);
  if (long === -1) return undefined;
  const columns = meta.fields?.length ?? 0;
  return new UnreadableFile(
    `${file} is no CSV: row ${before + long + 1} has more fields than the heading, which has ${columns}.`,
  );
}

function readLine(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new UnreadableFile(`${place} is not JSON: ${message}`, { cause });
  }
}
