import type { Coroutine } from '../../async/coroutine.ts';
import { type Body, encodeMade, peek } from '../../codec/body.ts';
import { isPlainJson, parsedLine } from '../../codec/exact-json/plain-json.ts';
import { Malformed, ValueError } from '../../errors/errors.ts';
import { readsManaged } from '../../protocol/managed.ts';
import { readPackedPage } from '../../protocol/packed-page.ts';
import { type RecordState, stateOfDocument } from '../../protocol/record-states.ts';
import type { Request } from '../../protocol/requests.ts';
import type { IndexKey } from '../../query/index/index-key.ts';
import { RecordPart } from '../../storage/segments/record-part.ts';
import { MANAGED_FIELDS } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collection-context.ts';
import type { Replica } from './replica.ts';

/** Fewer records become objects at once, as those of an insert. */
const FEW = 128;

type Fields = Readonly<Record<string, unknown>>;

/** The documents of a packed page, as columns. */
interface PackedRows {
  /** The indexes whose keys they have. */
  readonly indexes: CollectionContext['indexes'];
  readonly width: number;
  /** Of all changes. */
  readonly ids: Set<string>;
  readonly keys: string[];
  readonly versions: string[];
  readonly bodies: Body[];
  readonly flags: number[];
  /** Four for each that has some. */
  readonly stamps: number[];
  /** By the names of the indexes. */
  readonly indexKeys: Record<string, IndexKey[]>;
  /** Those that are deleted on the server. */
  readonly gone: string[];
}

/** A page that is read, and to be added. */
interface PageAhead {
  /** Its checkpoint before, as JSON. */
  readonly after: string | undefined;
  /** `undefined` where it cannot be read. */
  readonly rows: Promise<PackedRows | undefined>;
}

/** Pages that a round has under way at once. */
const MOST_AHEAD = 3;

/** Adds the pages of a replica's first pull. docs/decisions/064-first-pull.md has the reasons. */
export class PackedFill {
  readonly #context: CollectionContext;
  readonly #replica: Replica;
  /** In the order of the history. */
  #ahead: PageAhead[] = [];

  constructor(context: CollectionContext, replica: Replica) {
    this.#context = context;
    this.#replica = replica;
  }

  *read({ packed, after }: Request<'replicaRead'>): Coroutine<undefined> {
    const areManaged = this.#context.indexes.all.some(({ definition }) => readsManaged(definition));
    // Their keys are not those of documents without managed values.
    if (areManaged || this.#replica.state.scopes) return undefined;
    // One after the other: the first is needed first.
    const before = Promise.resolve(this.#ahead.at(-1)?.rows);
    const read = before.then(() => packedRows(packed, this.#context));
    // The same documents one by one say what is wrong, and may be stored all the same.
    const rows = read.catch(() => undefined);
    this.#ahead.push({ after, rows });
    if (this.#ahead.length > MOST_AHEAD) this.#ahead.shift();
    yield rows;
    return undefined;
  }

  *fill({ after, checkpoint }: Request<'replicaFill'>): Coroutine<number | undefined> {
    const at = this.#ahead.findLastIndex((ahead) => ahead.after === after);
    const ahead = this.#ahead.splice(0, at + 1).pop();
    if (!ahead) return undefined;
    const rows = (yield ahead.rows) as Awaited<typeof ahead.rows>;
    try {
      if (!rows || !this.#add(rows)) return undefined;
    } catch (error) {
      if (error instanceof ValueError) return undefined;
      throw error;
    }
    this.#replica.setCheckpoint(checkpoint, undefined);
    yield this.#context.saves.flush();
    return rows.ids.size;
  }

  /** What a pull has left that ended early. */
  forget(): void {
    this.#ahead = [];
  }

  /** @returns whether none of them is known here: else none is added. */
  #add(rows: PackedRows): boolean {
    const { indexes, records, versions } = this.#context;
    const replica = this.#replica;
    const { keys, bodies, flags, stamps } = rows;
    if (rows.indexes !== indexes || rows.width !== indexes.width || !areColumns(rows)) return false;
    for (const id of rows.ids) if (records.table.get(id)) return false;
    for (const ids of [replica.dirty, replica.log.ids()])
      for (const id of ids) if (rows.ids.has(id)) return false;
    const { length } = keys;
    if (length === 0) return true;
    const made: NewRows = { keys, bodies, stamps: undefined, indexKeys: [] };
    versions.prepareRows(made, 0, rows.indexKeys);
    const part = new RecordPart({
      ...{ keys, bodies, indexKeys: made.indexKeys, flags: Uint8Array.from(flags) },
      stamps: stamps.length > 0 ? Float64Array.from(stamps) : undefined,
      remoteVersions: rows.versions.map((version) => replica.tagged(version, [])),
      ranks: new Float64Array(length).map(() => records.takeRank()),
      segments: new Float64Array(length),
      indexes: new Uint32Array(length),
      sizes: new Uint32Array(length),
    });
    if (length < FEW) part.records();
    replica.applying(() => versions.add(part));
    return true;
  }
}

/** New documents, before they have ranks. */
type NewRows = Parameters<CollectionContext['versions']['prepareRows']>[0];

/** Whether columns can say it: each document once, and stamps of all or of none. */
function areColumns({ ids, keys, gone, stamps }: PackedRows): boolean {
  const areEven = stamps.length === 0 || stamps.length === keys.length * 4;
  return areEven && ids.size === keys.length + gone.length;
}

/** @throws {Malformed} {ValueError} for what an index refuses. */
async function packedRows(
  packed: Uint8Array,
  { settings, indexes, clock }: CollectionContext,
): Promise<PackedRows> {
  const rows: PackedRows = {
    ...{ indexes, width: indexes.width, ids: new Set() },
    ...{ keys: [], versions: [], bodies: [], flags: [], stamps: [], indexKeys: {}, gone: [] },
  };
  const areDocuments = settings.type === 'DOCUMENT_BASED';
  const lists = indexes.all.map((index) => {
    const keys: IndexKey[] = [];
    rows.indexKeys[index.keyName] = keys;
    return { index, keys };
  });
  const stateOf = (fields: Fields): RecordState =>
    areDocuments
      ? stateOfDocument(fields, encodeMade(ownOf(fields)))
      : [0, undefined, encodeMade(fields.value)];
  await readPackedPage(packed, clock, (line) => {
    const change = (areDocuments && plainChange(line)) || otherChange(line);
    const { id, version, body, fields } = change;
    rows.ids.add(id);
    if (!body && !fields) return void rows.gone.push(id);
    const state: RecordState = body ? [0, undefined, body] : stateOf(fields as Fields);
    rows.keys.push(id);
    rows.versions.push(version);
    rows.bodies.push(state[2]);
    rows.flags.push(state[0]);
    if (state[1]) rows.stamps.push(...state[1]);
    if (lists.length === 0) return;
    const own = peek(state[2]) as object;
    for (const { index, keys } of lists) keys.push(index.read(own));
  });
  return rows;
}

/** With neither fields nor a body, a deletion. */
interface LineChange {
  readonly id: string;
  readonly version: string;
  /** The text of its fields, which is what is stored. */
  readonly body?: string;
  readonly fields?: object;
}

/** Characters of a longer line, at which a pattern is not tried. */
const LONG = 4096;

/** Neither an end nor an escape. Half of a pair is an escape: a text may not have that. */
const CHAR = '[ !#-[\\]-\\uffff]';

const SCALAR = `"${CHAR}*(?:\\\\["\\\\/bfnrt]${CHAR}*)*"|-?(?:0|[1-9]\\d{0,99})(?:\\.\\d{1,99})?|true|false|null`;

/** Items that end so; each once, as the pattern grows with each level. */
const listOf = (item: string, end: string) => `(?:${item}(?:,(?!${end})|(?=${end})))*${end}`;

/** Without names of managed fields and wrappers. */
const fieldsOf = (value: string) => `\\{${listOf(`"(?![$_])${CHAR}*":(?:${value})`, '\\}')}`;

const withNested = (value: string) =>
  `${value}|\\[${listOf(`(?:${value})`, '\\]')}|${fieldsOf(value)}`;

/** A document of two levels of JSON. Most lines are: to parse them takes twice as long. */
const PLAIN = new RegExp(
  `^\\{"id":"(${CHAR}+)","version":"([ !#-[\\]-~]{1,200})","fields":(${fieldsOf(withNested(withNested(SCALAR)))})\\}$`,
);

/** `undefined` for a line that is to be parsed. */
function plainChange(line: string): LineChange | undefined {
  const [, ...parts] = (line.length < LONG && PLAIN.exec(line)) || [];
  if (parts.length === 0) return undefined;
  const [id, version, body] = parts.map(copied) as [string, string, string];
  return { id, version, body };
}

/** A part of a longer text keeps all of it, and is read half as fast. */
function copied(part: string): string {
  return [part.slice(0, 1), part.slice(1)].join('');
}

/** Of a value that can be stored. */
const MAX_DEPTH = 500;

/** Nobody sees it: the page reads the same line, and says what is wrong. */
const NO_CHANGE = 'a line is no change';

const VERSION = /^[\x20-\x7e]{1,200}$/;

/**
 * A deletion, or a document with managed fields or dates. Those with other values outside JSON are
 * for the page, which has the code for them.
 */
function otherChange(line: string): LineChange {
  const { id, version, fields, deleted } = asFields(parsedLine(line));
  if (typeof id !== 'string' || !id || typeof version !== 'string' || !VERSION.test(version))
    throw new Malformed(NO_CHANGE);
  if (deleted === true && fields === undefined) return { id, version };
  // With its id, as it would travel: its only field may have the name of a wrapper.
  const given = { _id: id, ...asFields(fields) };
  if (given._id !== id || deleted !== undefined) throw new Malformed(NO_CHANGE);
  return { id, version, fields: isPlainJson(given) ? given : (withDates(given, 0) as object) };
}

/** @throws {Malformed} */
function asFields(value: unknown): Fields {
  if (typeof value === 'object' && value && !Array.isArray(value)) return value as Fields;
  throw new Malformed(NO_CHANGE);
}

/** A document without its managed fields. */
function ownOf(fields: Fields): object {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !MANAGED_FIELDS.has(key)));
}

function withDates(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) throw new Malformed(NO_CHANGE);
  const below = (inner: unknown) => withDates(inner, depth + 1);
  if (Array.isArray(value)) return value.map(below);
  const entries = Object.entries(value);
  const [[name = '', content] = []] = entries;
  if (entries.length !== 1 || !name.startsWith('$'))
    return Object.fromEntries(entries.map(([key, inner]) => [key, below(inner)]));
  const date = new Date(content as number);
  if (name !== '$date' || date.getTime() !== content) throw new Malformed(NO_CHANGE);
  return date;
}
