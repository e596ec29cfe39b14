import { ReplicationError } from '../../src/errors/replication-error.ts';
import type { CouchCheckpoint } from '../../src/replication/couchdb/couch-answers.ts';
import { HEARTBEAT_MS } from '../../src/replication/couchdb/couch-database.ts';
import { CouchRemote } from '../../src/replication/couchdb/couch-remote.ts';
import type { RemoteFetch } from '../../src/replication/fetching/remote-options.ts';
import type { Remote, RemoteFiles } from '../../src/replication/protocol/remote.ts';
import { type Attachment, fieldOf, readMultipart } from './couch-attachments.ts';
import { type CouchFiles, placeholderOf } from './couch-files.ts';
import type { CouchJson, CouchRequest } from './couch-model.ts';
import { sha256Of } from './replication-files.ts';
import { ArrivingText, answerOf, clockOf, jsonAnswer, type TabSide } from './replication-http.ts';
import { type Parts, type ReplicationLog, SERVER } from './replication-log.ts';
import { tokenOf, tokensIn } from './replication-tokens.ts';
import { decoded, pushedRows, type SeenAnswer, type SimCouch } from './sim-couch.ts';
import type { World } from './world.ts';

const URL_OF_DATABASE = 'https://sim/orders';
/** A poll is answered after so long, at most. */
const POLL_MS = 60_000;
/** The longest that the other program takes from reading to writing, in milliseconds. */
const THINKING_MS = 500;

/** A database, as the tabs of a browser reach it. */
export interface CouchSide {
  readonly couch: SimCouch;
  readonly rings: boolean;
  readonly browser: number;
}

/** The client of CouchDB, over the network of the simulation. */
export function couchRemote(side: TabSide, from: CouchSide): Remote<CouchCheckpoint> {
  const given = { url: URL_OF_DATABASE, headers: {}, fetch: fetchFrom(side, from) };
  const selectorOf = (scope: { readonly g?: unknown } | undefined) => {
    if (!scope) return undefined;
    const { g } = scope;
    return g === 0 ? { $or: [{ g }, { g: { $exists: false } }] } : { g };
  };
  const remote = new CouchRemote({ ...given, selectorOf }, clockOf(side));
  // As couchdb() has it.
  const files: RemoteFiles = {
    areAttached: true,
    received: async () => undefined,
    send: async () => undefined,
    read: (...asked) => remote.readFile(...asked),
  };
  return Object.assign(remote, { scopes: true, ...(from.couch.files && { files }) });
}

function fetchFrom(side: TabSide, { couch, rings, browser }: CouchSide): RemoteFetch {
  const { network, tab } = side;
  return async (url, { body, signal, headers }) => {
    const { pathname, searchParams: query } = new URL(url);
    const path = pathname.slice('/orders'.length);
    const read = body instanceof Blob ? readMultipart(body) : body && JSON.parse(String(body));
    const asked = { path, query, body: await read };
    const sent = { ...asked, epoch: couch.epoch, place: couch.model.seq, browser };
    const answeredFiles = body instanceof Blob && couch.files?.sent(tab.id, asked.body);
    const ended = AbortSignal.any([signal as AbortSignal]);
    const rows = pushedRows(asked);
    const answered = rows.length > 0 ? network.onPushed(tab, rows) : () => undefined;
    try {
      if (query.has('feed')) {
        await network.request(tab, ended, (_, answer) => answer(() => undefined));
        const poll = rings ? new Poll(side, couch, asked, ended) : new ArrivingText(side, ended);
        return answerOf('application/json', poll);
      }
      const answer = await network.request<SeenAnswer>(tab, ended, (isLate, done) =>
        done(() => {
          if ((asked.body?.docs?.length ?? 0) <= network.mostRows)
            return couch.handle(sent, isLate);
          return { status: 413, body: { error: 'too_large' }, documents: [] };
        }),
      );
      answered();
      if (answeredFiles && [201, 409].includes(answer.status)) answeredFiles();
      if (answer.attachment) return bytesAnswer(answer.attachment, headers);
      return jsonAnswer(answer.body, answer);
    } catch (error) {
      if (!(error instanceof ReplicationError)) throw error;
      const status = error.code === 'remote_unauthorized' ? 401 : 500;
      const wait = error.retry_after && error.retry_after / 1000;
      return jsonAnswer({ error: error.message }, wait ? { status: 429, wait } : { status });
    }
  };
}

/** The content of a file, or a part of it; CouchDB knows no parts of what it compresses. */
function bytesAnswer({ type, data }: Attachment, headers: RequestInit['headers']): Response {
  const { range } = headers as { readonly range?: string };
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  const isPart = to !== undefined && !type.startsWith('text/');
  const bytes = isPart ? data.subarray(Number(from), Number(to) + 1) : data;
  const parts = [bytes.subarray(0, 7), bytes.subarray(7)].map((one) => new Uint8Array(one));
  const read = async () => {
    const value = parts.shift();
    return value ? { done: false, value } : { done: true };
  };
  const reader = { read, cancel: async () => undefined };
  const status = isPart ? 206 : 200;
  return {
    status,
    type: 'default',
    headers: new Headers(),
    body: { getReader: () => reader },
  } as never;
}

/** A request for changes that the server holds until there are some. */
class Poll extends ArrivingText {
  readonly #side: TabSide;
  readonly #couch: SimCouch;
  readonly #asked: CouchRequest;

  constructor(side: TabSide, couch: SimCouch, asked: CouchRequest, signal: AbortSignal) {
    super(side, signal);
    this.#side = side;
    this.#couch = couch;
    this.#asked = asked;
    this.stops.push(couch.onChange(() => this.#look()));
    this.stops.push(side.world.after(POLL_MS, undefined, () => this.#look(true)));
    this.#beat();
    this.#look();
  }

  #beat(): void {
    const { world, network, tab } = this.#side;
    const beat = () => {
      if (this.hasLeft) return this.cancel();
      if (!network.isCut) this.arrive('\n');
      this.#beat();
    };
    this.stops.push(world.after(HEARTBEAT_MS, tab, beat));
  }

  #look(isLast = false): void {
    const { world, network, tab } = this.#side;
    if (this.hasLeft) this.cancel();
    if (this.hasLeft) return;
    const { model, epoch } = this.#couch;
    const { body } = this.#couch.handle({ ...this.#asked, epoch, place: model.seq }, false);
    if (!isLast && (body as { results: object[] }).results.length === 0) return;
    for (const stop of this.stops.splice(0)) stop();
    // One that is lost leaves a connection that is silent.
    if (network.isCut || world.random.chance(network.weather.lost)) return;
    world.after(world.random.between(1, network.weather.slowness), tab, () => {
      this.arrive(JSON.stringify(body));
      this.cancel();
    });
  }
}

/** A program that writes to the database by HTTP, and knows nothing of Cairn. */
export class OtherProgram {
  readonly #world: World;
  readonly #couch: SimCouch;
  readonly #log: ReplicationLog;
  readonly #trace: (line: string) => void;
  /** Whether it makes branches, as a node that sees no other one does. */
  readonly #branches: boolean;
  #tokens = 0;

  constructor(world: World, couch: SimCouch, log: ReplicationLog, trace: (line: string) => void) {
    this.#world = world;
    this.#couch = couch;
    this.#log = log;
    this.#trace = trace;
    this.#branches = world.random.chance(0.4);
  }

  /** Does something with a document. */
  act(ids: readonly string[]): void {
    const { random } = this.#world;
    const id = random.pick(ids);
    const found = this.#couch.model.get(id, true);
    const { files } = this.#couch;
    const isOfFiles = files && found && !found._deleted && random.chance(0.4);
    const kind = random.below(this.#branches ? 10 : 6);
    if (isOfFiles) this.#file(found, files);
    else if (kind === 9) this.#couch.model.compact();
    else if (!found || found._deleted) this.#insert(id, found?._rev);
    else if (kind < 3) this.#set(found, random.pick(['x', 'y', 's']));
    else if (kind === 3) this.#set(found, 's', false);
    else if (kind === 4) this.#delete(found);
    else if (kind === 5) {
      const other = this.#couch.model.get(random.pick(ids));
      this.#set(found, 's');
      if (other && !other._deleted && other._id !== id) this.#set(other, 's');
    } else if (kind < 8) this.#branch(found);
    else this.#resolve(found);
  }

  #token(): string {
    return tokenOf('program', ++this.#tokens, false);
  }

  #insert(_id: string, tombstone: string | undefined): void {
    const { random } = this.#world;
    const token = this.#token();
    const isNamed = tombstone !== undefined && this.#couch.isPouch && random.chance(0.5);
    const made = { _id, x: token, ...(isNamed && { _rev: tombstone }) };
    const writes = [{ id: _id, field: 'x', token }];
    this.#write(`insert ${_id} ${token}`, { writes, creates: [_id] }, [made]);
  }

  /** @param keeps Whether it keeps what it does not know. */
  #set(found: CouchJson, field: string, keeps = true): void {
    const { _id: id, $cairn, ...known } = found;
    const token = this.#token();
    const isPlain = !($cairn as { readonly exact?: object; readonly fields?: object })?.exact;
    const document = { _id: id, ...known, ...((keeps || !isPlain) && { $cairn }), [field]: token };
    const parts = { writes: [{ id, field, token }], overwrites: [{ id, field }] };
    this.#write(`set ${id}.${field} ${token}`, parts, [document], found);
  }

  /** As programs do that know something of files, or nothing. */
  #file(found: CouchJson, files: CouchFiles): void {
    const { _attachments, ...others } = found;
    const [what, attached, fields = {}] = this.#changedFiles(_attachments as object, files);
    const document = { ...others, _attachments: attached, ...fields };
    this.#write(`${what} files of ${found._id}`, {}, [document], found);
  }

  #changedFiles(
    stubs: object = {},
    files: CouchFiles,
  ): readonly [what: string, attached: object, fields?: object] {
    const { random } = this.#world;
    const names = Object.keys(stubs);
    const kind = random.below(5);
    const attached = (name: string, bytes: Uint8Array) => ({
      [name]: { content_type: 'image/png', data: Buffer.from(bytes).toString('base64') },
    });
    const other = Buffer.from(this.#token());
    if (kind === 0) return ['forget', {}];
    if (kind === 1 && names.length > 0) {
      const { [random.pick(names)]: _, ...rest } = stubs as Record<string, object>;
      return ['remove', rest];
    }
    if (kind === 2 && names.length > 0)
      return ['spoil', { ...stubs, ...attached(random.pick(names), other) }];
    if (kind < 4) return ['add', { ...stubs, ...attached('their.txt', other) }];
    const bytes = files.bytes();
    const own = attached(sha256Of(bytes), bytes);
    return [
      'replace',
      random.chance(0.5) ? own : { ...stubs, ...own },
      { f: placeholderOf(bytes) },
    ];
  }

  #delete(found: CouchJson): void {
    const { _id: id, _rev } = found;
    const parts = { overwrites: [{ id, field: undefined }], deletes: id };
    this.#write(`delete ${id}`, parts, [{ _id: id, _rev, _deleted: true }], found);
  }

  /** A revision beside the winner, or far behind it. */
  #branch(found: CouchJson): void {
    const { random } = this.#world;
    const { model } = this.#couch;
    const { _id: id, _rev, _conflicts: _, _attachments, ...fields } = found;
    const { start, ids } = model.history(id, _rev as string);
    const depth = random.below(ids.length + 1);
    const token = this.#token();
    const field = random.pick(['x', 's', 'b']);
    const made = [...Array(1 + random.below(3))].map(() => `${random.below(1e9)}`);
    const path = [...made, ...ids.slice(depth)];
    const _revisions = { start: start - depth + made.length, ids: path };
    const named = { _id: id, _rev: `${_revisions.start}-${path[0]}`, _revisions };
    const parts = { writes: [{ id, field, token }], overwrites: [{ id, field }] };
    // What another node sends has its files in it.
    const files = _attachments ? fieldOf(model.attachments(id), true) : {};
    const branch = { ...fields, ...files, ...named, [field]: token };
    this.#write(`branch ${id}.${field} ${token}`, parts, [branch], found, false);
  }

  /** As programs do that take the winner as it is. */
  #resolve({ _id, _conflicts = [] }: CouchJson): void {
    const gone = (_conflicts as string[]).map((_rev) => ({ _id, _rev, _deleted: true }));
    if (gone.length > 0) this.#write(`resolve ${_id}`, {}, gone);
  }

  /** @param found What it has read. */
  #write(
    what: string,
    parts: Parts,
    documents: readonly object[],
    found?: CouchJson,
    isNew = true,
  ): void {
    const { random } = this.#world;
    const read = found ? tokensIn(decoded(found)) : [];
    this.#log.delivered(SERVER, read);
    this.#world.after(random.between(0, THINKING_MS), undefined, () => {
      const sent = structuredClone(documents).map(
        ({ _conflicts: _, ...one }: { _conflicts?: unknown }) => one,
      );
      const change = this.#log.begin(SERVER, { dead: false, frozenUntil: 0 }, parts);
      change.deleted = parts.deletes === undefined ? undefined : read;
      const isMade = this.#couch.write(sent, isNew);
      this.#log.end(change, isMade ? 'acknowledged' : 'refused');
      this.#trace(`program ${what}: ${isMade}`);
    });
  }
}
