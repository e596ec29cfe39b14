import type { Clock } from '../../src/async/clock.ts';
import type { WireChange } from '../../src/codec/exact-json/wire-changes.ts';
// Before the first run: to load code takes real time.
import '../../src/replication/fetching/event-stream.ts';
import {
  decodeDocument,
  encodeDocument,
  type WireDocument,
} from '../../src/codec/exact-json/wire-documents.ts';
import type { RemoteFetch } from '../../src/replication/fetching/remote-options.ts';
import { HttpRemote } from '../../src/replication/http.ts';
import type { PullAnswer, WireResult } from '../../src/replication/protocol/http-answers.ts';
import { DEFAULT_LIMIT, PACKED_PAGE_TYPE } from '../../src/replication/protocol/http-fields.ts';
import {
  readPullRequest,
  readPushRequest,
  readStreamRequest,
  readWatchRequest,
  type StreamRequest,
} from '../../src/replication/protocol/http-requests.ts';
import type {
  LocalChange,
  PulledPage,
  PushResult,
  Remote,
  RemoteChange,
  ReplicationScope,
} from '../../src/replication/protocol/remote.ts';
import { FirstPulls } from '../../src/server/first-pull.ts';
import type { Store } from '../../src/server/index.ts';
import { type ReplicationNetwork, settle } from './replication-network.ts';
import type { ReplicationServer } from './replication-server.ts';
import { tokensIn } from './replication-tokens.ts';
import type { Tab } from './tab.ts';
import type { World } from './world.ts';

const BEAT_MS = 15_000;
/** What is late comes within this. */
const LATE_MS = 4000;
/** A server ends its streams after so long, at most. */
const LIFE_MS = 60_000;

/** A tab, and what is between it and its server. */
export interface TabSide {
  readonly world: World;
  readonly network: ReplicationNetwork;
  readonly tab: Tab;
}

interface Parts extends TabSide {
  readonly server: ReplicationServer;
}

/** The client of `cairndb/server` with its stream, over the network of the simulation. */
export function streamedRemote(parts: Parts): Remote<string> {
  const given = { url: 'https://sim/sync/orders', headers: {}, fetch: fetchFrom(parts) };
  return new HttpRemote(given, clockOf(parts));
}

/** The clock of a tab. */
export function clockOf({ world, tab }: TabSide): Clock {
  return {
    now: () => world.now,
    elapsed: () => world.now,
    after: (ms, call) => world.after(ms, tab, call),
  };
}

function fetchFrom(parts: Parts): RemoteFetch {
  const { network, tab } = parts;
  const remote = network.remoteOf(tab);
  const routes: Record<string, (body: unknown, signal: AbortSignal) => Promise<unknown>> = {
    async pull(body, signal) {
      const { after, limit, scope } = readPullRequest(body);
      const ask = { limit, signal, scope: scope as ReplicationScope | undefined };
      const page = await remote.pull(after, ask);
      return { ...pageToWire(page), ...(scope !== undefined && { scoped: true }) };
    },
    async push(body, signal) {
      const results = await remote.push(readPushRequest(body).map(readRow), { signal });
      return { results: results.map(resultToWire) };
    },
    async watch(body, signal) {
      const { after } = readWatchRequest(body);
      for await (const _ of remote.watch?.(after, { signal }) ?? []) break;
      return { changed: true };
    },
    orders: (_, signal) =>
      network.request(tab, signal, (__, answer) =>
        answer(() => ({ operations: true, stream: true, scopedStream: true })),
      ),
  };
  return async (url, { body, signal, headers }) => {
    const asked = body === undefined ? undefined : JSON.parse(String(body));
    const ended = signal as AbortSignal;
    const route = url.slice(url.lastIndexOf('/') + 1);
    const { accept } = headers as Record<string, string>;
    if (accept?.includes(PACKED_PAGE_TYPE)) {
      const page = await network.request<Awaited<ReturnType<typeof packedPage>>>(
        ...[tab, ended],
        (_, answer) => void settle(packedPage(parts, asked.after ?? undefined), answer),
      );
      if (page) return textAnswer(PACKED_PAGE_TYPE, page.text);
    }
    if (route === 'stream') {
      await network.request(tab, ended, (_, answer) => answer(() => undefined));
      return answerOf('text/event-stream', new SimStream(parts, readStreamRequest(asked), ended));
    }
    return jsonAnswer(await routes[route]?.(asked, ended));
  };
}

// Not compressed: that takes threads, whose time is no seed's.
globalThis.DecompressionStream = class extends TransformStream {
  constructor(_format: string) {
    super();
  }
} as never;
const joined = async (parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

/** What a server keeps of first pulls; `undefined`: nothing. */
const keptBy = new WeakMap<ReplicationServer, FirstPulls | undefined>();

/** The text of a packed page, and its documents, where the server has some. */
async function packedPage({ world, server }: Parts, after: string | undefined) {
  if (!keptBy.has(server)) {
    const keeps = world.random.chance(0.7);
    keptBy.set(
      server,
      keeps ? new FirstPulls(world.random.pick([0, 500, 1e6]), joined) : undefined,
    );
  }
  const pull: Store['pull'] = async (_, from, limit) =>
    pageToWire(server.pull(from, limit)) as PullAnswer;
  const response = await keptBy.get(server)?.answer({ pull } as Store, 'orders', after);
  const text = (await response?.text()) ?? '';
  const lines = text.split('\n').filter(Boolean);
  const documents = lines.map((line) => {
    const { id, fields } = JSON.parse(line);
    return fields && decodeDocument({ _id: id, ...fields }, id);
  });
  return response && { text, documents };
}

export function jsonAnswer(answer: unknown, init?: { status: number; wait?: number }): Response {
  return textAnswer('application/json', JSON.stringify(answer), init);
}

function textAnswer(
  type: string,
  text: string,
  init?: { status: number; wait?: number },
): Response {
  const parts = [text];
  return answerOf(type, { read: async () => parts.shift(), cancel() {} }, init);
}

/** What an answer has to say, in parts; `undefined`: that was all. */
interface Text {
  read(): Promise<string | undefined>;
  cancel(): void;
}

/** An answer whose reading takes no turns of the event loop, as time goes by in them. */
export function answerOf(
  type: string,
  text: Text,
  { status, wait }: { readonly status: number; readonly wait?: number | undefined } = {
    status: 200,
  },
): Response {
  const encoder = new TextEncoder();
  const reader = {
    async read() {
      const part = await text.read();
      return part === undefined ? { done: true } : { done: false, value: encoder.encode(part) };
    },
    cancel: async () => text.cancel(),
  };
  const headers = new Headers({ 'content-type': type });
  if (wait !== undefined) headers.set('retry-after', String(wait));
  return { status, type: 'default', headers, body: { getReader: () => reader } } as never;
}

/** What arrives bit by bit. */
export class ArrivingText implements Text {
  /** Ends what still may arrive. */
  protected readonly stops: (() => void)[] = [];
  protected failure: Error | undefined;
  readonly #arrived: string[] = [];
  readonly #signal: AbortSignal;
  readonly #tab: Tab;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor({ tab }: TabSide, signal: AbortSignal) {
    this.#tab = tab;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.cancel());
  }

  async read(): Promise<string | undefined> {
    while (this.#arrived.length === 0 && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#arrived.length === 0 && this.failure) throw this.failure;
    return this.#arrived.shift();
  }

  cancel(): void {
    for (const stop of this.stops.splice(0)) stop();
    this.#isOver = true;
    this.#wake();
  }

  protected get hasLeft(): boolean {
    return this.#isOver || this.#signal.aborted || this.#tab.dead;
  }

  protected arrive(text: string): void {
    this.#arrived.push(text);
    this.#wake();
  }
}

/**
 * A stream of events on its way to a tab. Events come late or twice, or are left out; it breaks,
 * ends or falls silent, as the weather has it.
 */
export class SimStream extends ArrivingText {
  readonly #parts: Parts;
  #isSilent = false;
  /** When what was sent last arrives: nothing overtakes it. */
  #last = 0;

  constructor(parts: Parts, collections: readonly StreamRequest[], signal: AbortSignal) {
    super(parts, signal);
    this.#parts = parts;
    const { world } = parts;
    this.#send(':\n\n');
    this.#beat();
    this.stops.push(world.after(world.random.between(100, LIFE_MS), undefined, () => this.#end()));
    for (const [at, one] of collections.entries()) this.#follow(at, one, one.after);
  }

  #beat(): void {
    const { world } = this.#parts;
    this.stops.push(
      world.after(BEAT_MS, undefined, () => {
        if (this.hasLeft) return this.cancel();
        this.#send(':\n\n');
        this.#beat();
      }),
    );
  }

  #follow(at: number, one: StreamRequest, after: string): void {
    const { server, world } = this.#parts;
    const news = () => {
      // Reading takes a while, in which others push.
      world.after(world.random.between(0, 5), undefined, () => {
        if (this.hasLeft) return this.cancel();
        const page = server.pull(after, DEFAULT_LIMIT, one.scope as ReplicationScope | undefined);
        if (page.checkpoint !== after || page.changes.length > 0) this.sendPage(at, after, page);
        this.#follow(at, one, page.checkpoint);
      });
    };
    this.stops.push(server.onNews(after, news));
  }

  /** @returns whether it is on its way. */
  sendPage(at: number, after: string, page: PulledPage<string>): boolean {
    const { random } = this.#parts.world;
    const { lost, doubled, unanswered, refused } = this.#parts.network.weather;
    if (random.chance(unanswered)) this.#isSilent = true;
    const ends = random.chance(refused);
    if (ends) this.#end();
    if (ends || random.chance(lost)) return false;
    const data = JSON.stringify({ at, after, page: pageToWire(page) });
    for (let times = random.chance(doubled) ? 2 : 1; times > 0; times--)
      this.#send(`id: ${page.checkpoint}\ndata: ${data}\n\n`, tokensIn(page));
    return true;
  }

  #send(text: string, tokens: string[] = []): void {
    const { network, tab } = this.#parts;
    this.#later(() => {
      if (network.isCut || this.#isSilent) return;
      network.onDelivered(tokens);
      this.arrive(text);
    }, tab);
  }

  /** The server, or something on the way, ends it, with or without a word. */
  #end(): void {
    const { random } = this.#parts.world;
    if (random.chance(0.5)) this.failure = new TypeError('the network is gone');
    this.#later(() => this.cancel(), this.#parts.tab);
  }

  #later(call: () => void, tab: Tab): void {
    const { world, network } = this.#parts;
    const isLate = world.random.chance(network.weather.late);
    const ms = world.random.between(1, isLate ? LATE_MS : network.weather.slowness);
    this.#last = Math.max(this.#last, world.now + ms);
    world.after(this.#last - world.now, tab, call);
  }
}

export function readRow(row: ReturnType<typeof readPushRequest>[number]): LocalChange {
  const { id, base, key, document, operations } = row;
  const read = (wire: object) => decodeDocument({ _id: id, ...wire }, id);
  return {
    ...{ id, base, key },
    document: document === undefined ? undefined : decodeDocument(document, id),
    ...(operations !== undefined && (read({ operations }) as Pick<LocalChange, 'operations'>)),
  };
}

export function pageToWire({ changes, ...page }: PulledPage<string>): object {
  return { ...page, changes: changes.map(changeToWire) };
}

function changeToWire({ id, version, key, document, left }: RemoteChange): WireChange {
  return {
    ...{ id, version },
    ...(key !== undefined && { key }),
    ...(document ? { document: wireOf(document) } : { deleted: true as const }),
    ...(left && { left }),
  };
}

export function resultToWire(result: PushResult): WireResult {
  if ('conflict' in result) return { conflict: changeToWire(result.conflict) };
  if ('rejected' in result) return result;
  const { version, document } = result;
  return { version, ...(document && { document: wireOf(document) }) };
}

const wireOf = (document: object) => encodeDocument(document) as WireDocument;
