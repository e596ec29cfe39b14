import { type Coroutine, outcome, type Result, wait } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import { copy, decode } from '../../codec/capture.ts';
import { deepFreeze } from '../../codec/deep-freeze.ts';
import { isPlainObject, isPromise } from '../../codec/kinds.ts';
import { CollectionError, OptionError } from '../../errors/errors.ts';
import { type DocumentBuilder, documentBuilder } from '../../protocol/managed.ts';
import type { PartName } from '../../protocol/parts.ts';
import type { IncludeAsk, IncludedReply } from '../../protocol/relation-protocol.ts';
import type { RequestFlags, ScanReply } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CallOrder } from '../connection/call-order.ts';
import { includeIn } from '../find/find-query.ts';
import { checkId, checkIds, copyArgument } from '../sending/call-arguments.ts';
import { buildFrom } from '../sending/documents.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import { exclusively, type HandleRequest, type Sender } from '../sending/sender.ts';
import type { DocumentCalls } from './document-calls.ts';
import { liveChannel } from './related-live.ts';
import {
  checkRelations,
  hasRelated,
  type PartnerHandle,
  plainOf,
  type RelatedCollection,
  RelationTree,
  startsOf,
} from './relation-tree.ts';

type Options = Readonly<Record<string, unknown>>;

type Found = Record<string, unknown>;

/** A call that takes criteria and options. */
type Search<T = unknown> = (sender: Sender, params: unknown, options?: unknown) => Result<T>;

/** A call that takes changes, too. */
type Patching = (
  sender: Sender,
  params: unknown,
  changes: unknown,
  options?: unknown,
) => Result<unknown>;

/** Gives calls their relations: those that name one ask the engine with the partners. */
export function relate(
  calls: DocumentCalls<object>,
  channel: HandleChannel,
  settings: CollectionSettings,
  related: RelatedCollection,
): void {
  checkRelations(related);
  channel.live = (source) => liveChannel(channel, related, settings, source);
  const { find, get, getMany, stream } = calls;
  const own = { filter: calls.filter<object> as Search<object[]>, find: find as Search<object> };

  const isRelated = (params: unknown, options: unknown) =>
    includes(options) || hasRelated(params, related.relations);

  /** Runs a call over a sender that asks for partners; as ever where it names no relation. */
  const relating =
    <T>(method: Search<T>, complete = (_: Asked, found: T): T => found): Search<T> =>
    (sender, params, options) => {
      if (!isRelated(params, options)) return method.call(calls, sender, params, options);
      return asking(sender, params, options, function* (asked) {
        const { sender: over, params: given, options: rest } = asked;
        return complete(asked, yield* outcome(method.call(calls, over, given, rest)));
      });
    };

  /** As {@link relating}, of a call that includes nothing; its options follow its criteria. */
  const matching =
    (method: (sender: Sender, ...given: unknown[]) => Result<object[]>) =>
    (sender: Sender, ...given: unknown[]) => {
      const at = given.findIndex((one) => hasRelated(one, related.relations));
      if (at < 0) return method.call(calls, sender, ...given);
      return asking(sender, given[at], undefined, function* (asked) {
        const copies = [...given.slice(0, at), asked.params, ...given.slice(at + 1)];
        return asked.complete(yield* outcome(method.call(calls, asked.sender, ...copies)));
      });
    };

  function* asking<T>(
    sender: Sender,
    params: unknown,
    options: unknown,
    call: (asked: Asked) => Coroutine<T>,
  ): Coroutine<T> {
    const tree = new RelationTree(related, includes(options) ? options.include : undefined, params);
    const { order } = channel;
    const { orders } = tree;
    const copies = () => [copyArgument(params), copyArgument(options)] as const;
    // What queued while code loaded goes on one by one: those behind this call let others go first.
    const early = mayTangle(order, orders) && copies();
    if (early) yield* wait(Promise.resolve());
    const { waiting } = tree;
    if (!waiting) return yield* call(new Asked(sender, tree, ...(early || [params, options])));
    if (sender.isSync)
      throw new CollectionError(
        'sync_unavailable',
        'collection.sync: the code of a related collection is loading; await its ready first.',
        { place: related.name },
      );
    const given = early || copies();
    const place = { order, orders };
    const forget = () => places.delete(place);
    places.add(place);
    waiting.then(forget, forget);
    // Later calls must not overtake this one.
    return yield* exclusively(sender, function* (alone) {
      yield* wait(waiting);
      return yield* call(new Asked(alone, tree, ...given));
    });
  }

  const filter = relating(own.filter, (asked, found) => asked.complete(found));

  const byIds = (sender: Sender, ids: readonly string[], include: unknown) =>
    filter(sender, { _id: { $in: ids } }, { include, archived: true });

  /** A call that changes what criteria with partners find: those ids, in one transaction. */
  const changing =
    (most: number | undefined, change: (sender: Sender, found: object, rest: Options) => unknown) =>
    (sender: Sender, params: unknown, options: unknown): Coroutine<unknown> =>
      asking(sender, params, options, function* ({ base, params: given, options: rest }) {
        const copies = [copyArgument(given), rest] as const;
        return yield* calls.atomically(base, function* (atomic) {
          const tree = new RelationTree(related, undefined, copies[0]);
          const asked = new Asked(atomic, tree, ...copies);
          const { archived, collation, sort, where, signal, ...others } = (rest ?? {}) as Options;
          const search = { archived, collation, sort, where, signal, limit: most, select: ['_id'] };
          const found = own.filter.call(calls, asked.sender, asked.params, search);
          const ids = (yield* outcome(found)).map((one) => (one as Found)._id);
          const criteria = { ...plainOf(copies[0] as object, related), _id: { $in: ids } };
          const result = change(atomic, criteria, { ...others, archived: true });
          return yield* outcome(result as Result<unknown>);
        });
      });

  const patching =
    (most: number | undefined, patch: Patching) =>
    (sender: Sender, params: unknown, changes: unknown, options: unknown) => {
      if (!isRelated(params, undefined)) return patch.call(calls, sender, params, changes, options);
      if (most === 1 && (options as Options | undefined)?.upsert)
        throw new OptionError(
          'option_invalid',
          'upsert takes no criteria that name a relation: the document has no partners yet.',
          { place: 'upsert' },
        );
      const copied = copyArgument(changes);
      const change = (over: Sender, found: object, rest: Options) =>
        patch.call(calls, over, found, copied, rest);
      return changing(most, change)(sender, params, options);
    };

  const deleting =
    (most: number | undefined, remove: Search) =>
    (sender: Sender, params: unknown, options: unknown) =>
      isRelated(params, undefined)
        ? changing(most, (...given) => remove.call(calls, ...given))(sender, params, options)
        : remove.call(calls, sender, params, options);

  Object.assign(calls, {
    filter,
    find: relating(own.find, (asked, found) => found && (asked.complete([found])[0] as object)),
    has: relating(calls.has),
    count: relating<number>(calls.count),
    explain: relating(calls.explain),
    aggregate: matching(calls.aggregate),
    distinct: matching(calls.distinct),
    get(sender: Sender, id: unknown, options: unknown) {
      const include = includeIn(options);
      if (include === undefined) return get.call(calls, sender, id);
      checkId(id);
      return first(byIds(sender, [id], include));
    },
    getMany(sender: Sender, ids: unknown, options: unknown) {
      const include = includeIn(options);
      if (include === undefined) return getMany.call(calls, sender, ids);
      const list = checkIds(ids);
      return inOrder(byIds(sender, list, include), list);
    },
    stream(params: unknown, options: unknown) {
      if (!isRelated(params, options)) return stream.call(calls, params, options);
      const include = includes(options) ? options.include : undefined;
      const tree = new RelationTree(related, include, params);
      const chunks = stream.call(calls, params, withoutInclude(options));
      return {
        *read(sender: Sender): Coroutine<object[] | undefined> {
          const { waiting } = tree;
          if (waiting) yield* wait(waiting);
          const asked = new Asked(sender, tree, params, options);
          const chunk = yield* chunks.read(asked.sender);
          return chunk && asked.complete(chunk);
        },
        end: (sender: Sender) => chunks.end(sender),
      };
    },
    patchMany: patching(undefined, calls.patchMany),
    patchOne: patching(1, calls.patchOne),
    deleteMany: deleting(undefined, calls.deleteMany),
    deleteOne: deleting(1, calls.deleteOne),
  });
}

/** Calls that wait for partners: the place that each keeps, and the places it waits for. */
const places = new Set<{ readonly order: CallOrder; readonly orders: readonly CallOrder[] }>();

/** Whether one that keeps this place might wait for a call that waits for it, through others. */
function mayTangle(own: CallOrder, partners: readonly CallOrder[]): boolean {
  const all = [...places];
  const isAwaited = all.some(({ orders }) => orders.includes(own));
  return isAwaited && all.some(({ order }) => order !== own && partners.includes(order));
}

function withoutInclude(options: unknown): unknown {
  if (!includes(options)) return options;
  const { include: _, ...rest } = options;
  return rest;
}

/** Not what `map` passes behind an id. */
function includes(options: unknown): options is Options {
  return isPlainObject(options) && (options as Options).include !== undefined;
}

function* first<T>(found: Result<readonly T[]>): Coroutine<T | undefined> {
  return (yield* outcome(found))[0];
}

function* inOrder(
  found: Result<readonly object[]>,
  ids: readonly string[],
): Coroutine<(object | undefined)[]> {
  const byId = new Map((yield* outcome(found)).map((one) => [(one as Found)._id, one]));
  const used = new Set<unknown>();
  return ids.map((id) => {
    const one = byId.get(id);
    if (!one || !used.has(id)) {
      used.add(id);
      return one;
    }
    return Object.isFrozen(one) ? one : (copy(one) as object);
  });
}

const PARTS: readonly PartName[] = ['relations', 'transactions'];

/** The operations whose criteria, or pipelines, may ask for partners. */
const ASKING: ReadonlySet<string> = new Set(['scan', 'count', 'explain', 'aggregate']);

type Asking = RequestFlags & { readonly criteria?: object; readonly pipeline?: object };

/** One call that asks for partners. */
class Asked {
  /** The sender of the call itself. */
  readonly base: Sender;
  readonly sender: Sender;
  readonly params: unknown;
  readonly options: unknown;
  readonly #tree: RelationTree;
  readonly #replies: ScanReply[] = [];
  readonly #isShared: boolean;

  constructor(sender: Sender, tree: RelationTree, params: unknown, options: unknown) {
    this.base = sender;
    this.#tree = tree;
    this.params = params;
    this.options = withoutInclude(options);
    this.#isShared = sender.shared !== undefined;
    this.sender = {
      started: sender.started,
      isSync: sender.isSync,
      send: ((ask: HandleRequest) => this.#send(sender, ask)) as Sender['send'],
      ...(sender.exclusively && { exclusively: sender.exclusively }),
      ...(sender.client && { client: sender.client }),
      pause: () => sender.pause(),
    };
  }

  /** Gives documents the partners that came with them. */
  complete<T extends object>(documents: readonly T[]): T[] {
    const { includes } = this.#tree;
    if (includes.length > 0) this.#attach(documents);
    if (this.#isShared) for (const document of documents) deepFreeze(document);
    return documents as T[];
  }

  #attach(documents: readonly object[]): void {
    const { includes, partners } = this.#tree;
    let next = 0;
    for (const { keys, included = [] } of this.#replies.splice(0)) {
      const rows = included.map(
        (one, at) => new IncludedRows(one, includes[at] as IncludeAsk, partners),
      );
      for (const [at, key] of keys.entries()) {
        const document = documents[next] as Found | undefined;
        if (!document) return;
        // A function has left out others. Without one an `_id` may be left out.
        const isOther = document._id !== undefined && document._id !== key;
        if (isOther) continue;
        for (const row of rows) document[row.name] = row.of(at);
        next++;
      }
    }
  }

  #send(sender: Sender, ask: HandleRequest): unknown {
    if (ask.op === 'scanNext') return this.#note(sender.send(ask));
    if (!ASKING.has(ask.op)) return sender.send(ask);
    const { criteria = {}, pipeline, ...flags } = ask as Asking;
    const tree = this.#tree;
    const asked = {
      ...ask,
      criteria: tree.rewrite(criteria),
      ...(pipeline && { pipeline: tree.rewrite(pipeline) }),
      ...tree.asking(flags, PARTS),
    } as HandleRequest;
    const reply = sender.send(asked);
    return ask.op === 'scan' ? this.#note(reply as ScanReply | Promise<ScanReply>) : reply;
  }

  #note(reply: ScanReply | Promise<ScanReply>): ScanReply | Promise<ScanReply> {
    if (isPromise(reply)) return (reply as Promise<ScanReply>).then((late) => this.#note(late));
    if (this.#tree.includes.length > 0) this.#replies.push(reply);
    return reply;
  }
}

/** The partners of a chunk of documents. */
class IncludedRows {
  readonly name: string;
  readonly #isOne: boolean;
  readonly #reply: IncludedReply;
  /** Where the rows of each document begin. */
  readonly #starts: Uint32Array;
  readonly #build: DocumentBuilder;
  readonly #inner: readonly IncludedRows[];

  constructor(reply: IncludedReply, ask: IncludeAsk, partners: RelationTree['partners']) {
    this.name = ask.name;
    this.#isOne = ask.isOne;
    this.#reply = reply;
    this.#build = documentBuilder((partners.get(ask.partner) as PartnerHandle).settings);
    this.#starts = startsOf(reply.counts);
    this.#inner = reply.included.map(
      (one, at) => new IncludedRows(one, ask.include[at] as IncludeAsk, partners),
    );
  }

  /** The partners of a document, by its place in the chunk; each caller's own. */
  of(index: number): object | null | object[] {
    const rows = this.#reply.rows.subarray(this.#starts[index], this.#starts[index + 1]);
    if (!this.#isOne) return Array.from(rows, (row) => this.#document(row));
    return rows.length > 0 ? this.#document(rows[0] as number) : null;
  }

  #document(row: number): object {
    const { keys, flags, stamps, bodies, whole } = this.#reply.columns;
    const body = bodies[row] as Body;
    const document = (
      whole
        ? decode(body)
        : buildFrom(this.#build, keys[row] as string, flags[row] as number, stamps?.[row], body)
    ) as Found;
    for (const inner of this.#inner) document[inner.name] = inner.of(row);
    return document;
  }
}
