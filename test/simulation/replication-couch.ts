import { ReplicationError } from '../../src/errors/replication-error.ts';
import type { CouchCheckpoint } from '../../src/replication/couchdb/couch-answers.ts';
import { HEARTBEAT_MS } from '../../src/replication/couchdb/couch-database.ts';
import { CouchRemote } from '../../src/replication/couchdb/couch-remote.ts';
import type { RemoteFetch } from '../../src/replication/fetching/remote-options.ts';
import type { Remote } from '../../src/replication/protocol/remote.ts';
import type { CouchJson, CouchRequest } from './couch-model.ts';
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

/** The client of CouchDB, over the network of the simulation. */
export function couchRemote(
  side: TabSide,
  couch: SimCouch,
  rings: boolean,
): Remote<CouchCheckpoint> {
  const given = { url: URL_OF_DATABASE, headers: {}, fetch: fetchFrom(side, couch, rings) };
  const selectorOf = (scope: { readonly g?: unknown } | undefined) => {
    if (!scope) return undefined;
    const { g } = scope;
    return g === 0 ? { $or: [{ g }, { g: { $exists: false } }] } : { g };
  };
  return Object.assign(new CouchRemote({ ...given, selectorOf }, clockOf(side)), { scopes: true });
}

function fetchFrom(side: TabSide, couch: SimCouch, rings: boolean): RemoteFetch {
  const { network, tab } = side;
  return async (url, { body, signal }) => {
    const { pathname, searchParams: query } = new URL(url);
    const path = pathname.slice('/orders'.length);
    const asked = { path, query, body: body && JSON.parse(String(body)) };
    const sent = { ...asked, epoch: couch.epoch, place: couch.model.seq };
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
      return jsonAnswer(answer.body, answer);
    } catch (error) {
      if (!(error instanceof ReplicationError)) throw error;
      const status = error.code === 'remote_unauthorized' ? 401 : 500;
      const wait = error.retry_after && error.retry_after / 1000;
      return jsonAnswer({ error: error.message }, wait ? { status: 429, wait } : { status });
    }
  };
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
    const kind = random.below(this.#branches ? 10 : 6);
    if (kind === 9) this.#couch.model.compact();
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

  #delete(found: CouchJson): void {
    const { _id: id, _rev } = found;
    const parts = { overwrites: [{ id, field: undefined }], deletes: id };
    this.#write(`delete ${id}`, parts, [{ _id: id, _rev, _deleted: true }], found);
  }

  /** A revision beside the winner, or far behind it. */
  #branch(found: CouchJson): void {
    const { random } = this.#world;
    const { model } = this.#couch;
    const { _id: id, _rev, _conflicts: _, ...fields } = found;
    const { start, ids } = model.history(id, _rev as string);
    const depth = random.below(ids.length + 1);
    const token = this.#token();
    const field = random.pick(['x', 's', 'b']);
    const made = [...Array(1 + random.below(3))].map(() => `${random.below(1e9)}`);
    const path = [...made, ...ids.slice(depth)];
    const _revisions = { start: start - depth + made.length, ids: path };
    const named = { _id: id, _rev: `${_revisions.start}-${path[0]}`, _revisions };
    const parts = { writes: [{ id, field, token }], overwrites: [{ id, field }] };
    const branch = { ...fields, ...named, [field]: token };
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
