import type { Clock } from '../../async/clock.ts';
import { inSlices, slicer } from '../../async/next-turn.ts';
import type { Body } from '../../codec/body.ts';
import { asObject, Malformed } from '../../codec/exact-json/json-checks.ts';
import type { ReadKeys } from '../../page/sending/document-slices.ts';
import type { RemoteColumns, RemoteRow } from '../../protocol/replica-protocol.ts';
import type { IndexKey } from '../../query/index/index-key.ts';
import { readChange, readPullAnswer } from '../protocol/http-answers.ts';
import { LONG_PAGE_CHANGES, LONG_PAGE_TYPE, PACKED_PAGE_TYPE } from '../protocol/http-fields.ts';
import { longPages, PLAIN, type PulledPage, type RemoteChange } from '../protocol/remote.ts';
import { isPlainJson } from '../protocol/wire-documents.ts';
import { OversizedAnswer } from './answer-errors.ts';
import { type FetchRequest, MAX_ANSWER_BYTES, readParts } from './fetcher.ts';

/** What precedes the fields of a document in most lines; others are parsed as a whole. */
const HEAD = /^\{"id":"([^"\\]+)","version":"([ !#-[\]-~]{1,200})","fields":(?=\{)/;

/**
 * A change of a long page whose document is JSON without more: its text is what is stored, and it
 * is parsed again only where somebody asks for the document.
 */
class PlainChange implements RemoteChange {
  readonly id: string;
  readonly version: string;
  readonly [PLAIN]: string;
  /** The same, until somebody takes them: thousands of them are no short-lived garbage. */
  #fields: object | undefined;

  constructor(id: string, version: string, body: string, fields: object) {
    this.id = id;
    this.version = version;
    this[PLAIN] = body;
    this.#fields = fields;
  }

  get document(): object {
    return { _id: this.id, ...JSON.parse(this[PLAIN]) };
  }

  takeFields(): object {
    const fields = this.#fields ?? JSON.parse(this[PLAIN]);
    this.#fields = undefined;
    return fields;
  }
}

function ordinary(change: RemoteChange): RemoteChange {
  const { id, version, document } = change;
  return change instanceof PlainChange ? { id, version, document } : change;
}

/** Reads a long page by lines: changes, and at last the checkpoint. Anybody may have sent it. */
export class LongPageReader {
  readonly #changes: RemoteChange[] = [];
  #end: PulledPage<string> | undefined;

  /** @throws {Malformed} */
  take(line: string): void {
    if (this.#end) throw new Malformed('it goes on behind its last line');
    const change = plainChange(line);
    if (change) this.#changes.push(change);
    else this.#takeOther(asObject(parsed(line), 'a line'));
    if (this.#changes.length > LONG_PAGE_CHANGES) throw new Malformed('it has too many lines');
  }

  #takeOther(line: Record<string, unknown>): void {
    const { id, fields, ...change } = line;
    if (id !== undefined) {
      const document = fields === undefined ? fields : { _id: id, ...asObject(fields, '"fields"') };
      this.#changes.push(readChange({ ...change, id, ...(document && { document }) }));
      return;
    }
    // Not the last one: an ordinary answer under a wrong type.
    if ('changes' in line) throw new Malformed('a line has changes');
    const { checkpoint, more, rejected = [] } = line;
    this.#end = readPullAnswer({ changes: [], checkpoint, more, rejected }, 0);
  }

  /** @throws {Malformed} where it has ended too early. */
  get page(): PulledPage<string> {
    if (!this.#end) throw new Malformed('it has no last line');
    const lines = this.#changes;
    let changes: RemoteChange[] | undefined;
    const page = {
      ...this.#end,
      // A copy, or what another makes of it, has what an ordinary page would.
      get changes() {
        changes ??= lines.map(ordinary);
        return changes;
      },
    };
    longPages.set(page, lines);
    return page;
  }
}

/**
 * Reads a long page as it comes, in slices: its lines are many.
 *
 * @throws {OversizedAnswer} {Malformed}
 */
export async function readLongPage(
  response: Response,
  { url, signal }: FetchRequest,
  clock: Clock,
): Promise<PulledPage<string>> {
  const reader = new LongPageReader();
  const decoder = new TextDecoder();
  const pause = slicer(clock);
  let begun = '';
  const isShort = await readParts(unpacked(response), MAX_ANSWER_BYTES, signal, async (part) => {
    const text = decoder.decode(part, { stream: true });
    const end = text.lastIndexOf('\n');
    // Looked at once: a hostile line may come byte by byte.
    if (end < 0) {
      begun += text;
      return;
    }
    const lines = (begun + text.slice(0, end)).split('\n');
    begun = text.slice(end + 1);
    for (const line of lines) {
      reader.take(line);
      const pausing = pause();
      if (pausing) await pausing;
    }
  });
  if (!isShort) throw new OversizedAnswer(url, MAX_ANSWER_BYTES);
  begun += decoder.decode();
  if (begun !== '') reader.take(begun);
  return reader.page;
}

/** What a client asks for, best first. */
export const LONG_PAGE_TYPES = [
  ...(typeof DecompressionStream === 'function' ? [PACKED_PAGE_TYPE] : []),
  LONG_PAGE_TYPE,
].join(', ');

/** Browsers hold all that a write unpacks to, which may be a thousand times as much. */
const PACKED_AT_ONCE = 16 * 1024;

function unpacked({ headers, body }: Response): Pick<Response, 'body'> {
  if (headers.get('content-type') !== PACKED_PAGE_TYPE || !body) return { body };
  const slicing = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      for (let at = 0; at < part.length; at += PACKED_AT_ONCE)
        controller.enqueue(part.subarray(at, at + PACKED_AT_ONCE));
    },
  });
  const unpacking = new DecompressionStream('gzip') as unknown as TransformStream;
  return { body: body.pipeThrough(slicing).pipeThrough(unpacking) };
}

/** `undefined` for a line that is to be parsed as a whole. */
function plainChange(line: string): PlainChange | undefined {
  const [head, id, version] = HEAD.exec(line) ?? [];
  if (head === undefined || !line.endsWith('}')) return undefined;
  const body = line.slice(head.length, -1);
  // One object, and so the line has nothing that is hidden behind it.
  const fields = parsed(body) as object;
  for (const name in fields) if (name[0] === '_') return undefined;
  if (!isPlainJson(fields)) return undefined;
  return new PlainChange(id as string, version as string, body, fields);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Malformed(`a line is no JSON, but begins with "${text.slice(0, 60)}"`);
  }
}

/** Documents whose index keys are read at once. */
const SLICE = 500;

/**
 * States of the server as columns.
 *
 * @param toRow Reads a change.
 * @param readKeys Reads the keys of indexes.
 * @returns `undefined` where rows say what columns cannot.
 */
export async function remoteColumnsOf(
  changes: ReadonlyMap<string, RemoteChange>,
  toRow: (change: RemoteChange) => RemoteRow,
  clock: Clock,
  readKeys: ReadKeys | undefined,
): Promise<RemoteColumns | undefined> {
  const { size } = changes;
  if (size === 0) return undefined;
  const flags = new Uint8Array(size);
  const stamps = new Float64Array(size * 4);
  const ids: string[] = [];
  const versions: string[] = [];
  const bodies: Body[] = [];
  const gone: string[] = [];
  const indexKeys: Record<string, IndexKey[]> = {};
  let fields: object[] = [];
  const takeKeys = () => {
    const keys = readKeys?.(bodies.slice(-fields.length), fields) ?? {};
    for (const [name, some] of Object.entries(keys)) {
      indexKeys[name] ??= [];
      indexKeys[name].push(...some);
    }
    fields = [];
  };
  let stamped = 0;
  let isPlain = true;
  // The engine reads them else.
  let isRead = true;
  await inSlices(clock, changes.values(), (change) => {
    const { id, version, state } = toRow(change);
    if (change.left || change.defect !== undefined) isPlain = false;
    if (!state) {
      gone.push(id);
      return;
    }
    const row = ids.length;
    flags[row] = state[0];
    if (state[1]) {
      stamps.set(state[1], row * 4);
      stamped++;
    }
    ids.push(id);
    versions.push(version as string);
    bodies.push(state[2]);
    if (!readKeys) return;
    if (!(change instanceof PlainChange)) isRead = false;
    else if (fields.push(change.takeFields()) === SLICE) takeKeys();
  });
  if (fields.length > 0) takeKeys();
  const { length } = ids;
  if (!isPlain || (stamped > 0 && stamped < length)) return undefined;
  return {
    ...{ ids, versions, bodies, gone, flags: flags.slice(0, length) },
    indexKeys: isRead ? indexKeys : undefined,
    stamps: stamped > 0 ? stamps.slice(0, length * 4) : undefined,
  };
}
