import type { Coroutine } from '../../../async/coroutine.ts';
import { Pace } from '../../../async/pace.ts';
import type { Body } from '../../../codec/body.ts';
import { bodySize } from '../../../codec/size.ts';
import type { ListPart, LiveSpec, LiveUpdate } from '../../../protocol/live-protocol.ts';
import type { IncludeAsk, LiveIncluded, RelatedAsk } from '../../../protocol/relation-protocol.ts';
import type { Request } from '../../../protocol/requests.ts';
import type { StoredRecord } from '../../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../../collection-context.ts';
import { difference } from '../../live/list-result.ts';
import type { LiveQueries } from '../../live/live-queries.ts';
import type { LiveReader } from '../../live/live-reader.ts';
import type { MaintainedResult } from '../../live/live-result.ts';
import { columnsOfRecords, type RecordStore } from '../../records/record-store.ts';
import { partnersIn, refuseSortByPartners, resolveCriteria } from '../resolve-criteria.ts';
import { LiveNode, type ShownDocument } from './live-node.ts';

/** Most documents and partners in a part, and characters of the documents. */
const PART_LENGTH = 4096;
const PART_SIZE = 1024 * 1024;

interface Sending {
  readonly removed: readonly number[];
  readonly indexes: readonly number[];
  readonly inserted: readonly ShownDocument[];
  done: number;
}

/**
 * The result of a live query that looks into other collections. A change is taken in once all that
 * changed with it is known, so each result is of one instant.
 */
export class RelatedResult implements MaintainedResult {
  readonly sources: readonly RecordStore[];
  readonly #root: LiveNode;
  readonly #nodes: readonly LiveNode[];
  readonly #contexts: ReadonlyMap<number, CollectionContext>;
  readonly #kind: LiveSpec['kind'];
  readonly #unwatch: (() => void)[] = [];
  /** Of changed versions that are not in memory. */
  readonly #bodies = new Map<StoredRecord, Body>();
  /** What the root shows, and the documents of it. */
  #list: LiveNode['list'] | undefined;
  #documents: readonly ShownDocument[] = [];
  #sent: readonly object[] | undefined;
  #count: number | undefined;
  #sending: Sending | undefined;
  #pins: (() => void)[] = [];
  /** A backup brings others; its own reader hears of it later. */
  #indexes: readonly object[] = [];

  constructor(context: CollectionContext, request: Request<'live'>, reader: LiveReader) {
    const spec = request.spec as Extract<LiveSpec, { kind: 'list' | 'count' }>;
    const { include, contexts = new Map() } = request.related as RelatedAsk;
    refuseSortByPartners(include, spec.kind === 'list' ? spec.sort : undefined);
    this.#contexts = contexts as ReadonlyMap<number, CollectionContext>;
    this.#kind = spec.kind;
    this.#root = new LiveNode(
      context,
      { ...spec, criteria: spec.criteria ?? {} },
      this.#nodesOf(include),
    );
    this.#nodes = allNodes(this.#root);
    const used = new Set([context, ...this.#contexts.values()]);
    this.sources = Array.from(used, ({ records }) => records);
    for (const one of used) {
      const own = this.#nodes.filter((node) => node.context === one);
      const asked = this.#nodes.filter(({ ask }) =>
        partnersIn(ask.criteria).some((number) => this.#contexts.get(number) === one),
      );
      const note = (keys: ReadonlySet<string>) => {
        for (const node of own) for (const key of keys) node.touched.add(key);
        for (const node of asked) node.isOutdated = true;
      };
      this.#unwatch.push(livesOf(one).watch({ note, reader }));
    }
  }

  #nodesOf(asked: readonly IncludeAsk[]): LiveNode[] {
    return asked.map(({ partner, from, to, include, isOne, skip = 0, criteria = {}, ...ask }) => {
      const context = this.#contexts.get(partner) as CollectionContext;
      const limit = isOne ? 1 : ask.limit;
      const asking = { ...ask, criteria, skip, limit, link: { from, to } };
      return new LiveNode(context, asking, this.#nodesOf(include));
    });
  }

  update(): boolean {
    // Its watchers have noted the changes.
    return true;
  }

  reload(): void {
    for (const node of this.#nodes) node.isOutdated = true;
  }

  end(): void {
    for (const unwatch of this.#unwatch.splice(0)) unwatch();
    this.#unpin();
  }

  *next(): Coroutine<LiveUpdate | undefined> {
    if (!this.#sending) {
      this.#pins.push(...this.sources.map((records) => records.pin()));
      try {
        yield* this.#catchUp();
      } catch (error) {
        this.#unpin();
        throw error;
      }
      const update = this.#compare();
      if (update !== 'list') {
        this.#unpin();
        return update;
      }
    }
    const part = yield* this.#part(this.#sending as unknown as Sending);
    if (!part.more) {
      this.#sending = undefined;
      this.#unpin();
    }
    return part;
  }

  #unpin(): void {
    for (const unpin of this.#pins.splice(0)) unpin();
  }

  /** Takes in all changes of all collections up to one instant. */
  *#catchUp(): Coroutine<void> {
    const { clock, aborts } = this.#root.context;
    const pace = new Pace(clock, aborts);
    this.#bodies.clear();
    for (;;) {
      const indexes = this.#nodes.map(({ context }) => context.indexes);
      if (indexes.some((one, at) => one !== this.#indexes[at])) this.reload();
      this.#indexes = indexes;
      // What changed in the same turn, and was not passed on yet.
      for (const node of this.#nodes) livesOf(node.context).settle();
      for (const context of this.#contexts.values()) livesOf(context).settle();
      if (yield* this.#readMissing()) continue;
      for (const node of this.#nodes)
        if (!node.isOutdated) node.update((one) => one.body ?? (this.#bodies.get(one) as Body));
      const node = this.#nodes.find((one) => one.isOutdated || one.needsLoad);
      if (!node) break;
      if (node.isOutdated) yield* this.#resolve(node, pace);
      else yield* node.load(pace);
    }
    this.#root.passOn();
    this.#root.changedOwners.clear();
  }

  /** Reads bodies of changed records that are not in memory. @returns whether it had to. */
  *#readMissing(): Coroutine<boolean> {
    let isWaiting = false;
    for (const { context, touched, isOutdated } of this.#nodes) {
      const { records } = context;
      const missing = isOutdated
        ? []
        : Array.from(touched, (key) => records.get(key)).filter(
            (one) => one && one.body === undefined && !this.#bodies.has(one),
          );
      if (missing.length === 0) continue;
      isWaiting = true;
      const list = missing as StoredRecord[];
      const bodies = yield* records.bodies.ofAll(list);
      for (const [at, record] of list.entries()) this.#bodies.set(record, bodies[at] as Body);
    }
    return isWaiting;
  }

  *#resolve(node: LiveNode, pace: Pace): Coroutine<void> {
    node.isOutdated = false;
    node.touched.clear();
    const contextOf = (partner: number) => this.#contexts.get(partner) as CollectionContext;
    const reading = { contextOf, plans: [] };
    node.compile(yield* resolveCriteria(reading, node.context, node.ask.criteria, pace));
  }

  #compare(): 'list' | { readonly count: number } | undefined {
    const root = this.#root;
    if (this.#kind === 'count') {
      if (this.#count === root.list.length) return undefined;
      this.#count = root.list.length;
      return { count: this.#count };
    }
    if (this.#sent && !root.isChanged) return undefined;
    root.isChanged = false;
    if (this.#list !== root.list) {
      this.#list = root.list;
      this.#documents = root.list.map(({ record }) => root.shown.get(record.key) as ShownDocument);
    }
    const documents = this.#documents;
    const tokens = documents.map(({ token }) => token);
    const { removed, indexes } = difference(this.#sent ?? [], tokens);
    root.gone = [];
    if (this.#sent && removed.length + indexes.length === 0) return undefined;
    this.#sent = tokens;
    const inserted = indexes.map((index) => documents[index] as ShownDocument);
    this.#sending = { removed, indexes, inserted, done: 0 };
    return 'list';
  }

  *#part(sending: Sending): Coroutine<ListPart> {
    const root = this.#root;
    const { inserted, done: from } = sending;
    const bodies: Body[] = [];
    let room = PART_SIZE;
    let weight = 0;
    while (sending.done < inserted.length && room > 0 && weight < PART_LENGTH) {
      const { match } = inserted[sending.done++] as ShownDocument;
      const body = yield* contentOf(root, match);
      bodies.push(body);
      room -= bodySize(body);
      weight += 1 + weightOf(root.inner, match.record.key);
    }
    const shown = inserted.slice(from, sending.done);
    const records = shown.map(({ match }) => match.record);
    const included: LiveIncluded[] = [];
    for (const node of root.inner) included.push(yield* includedIn(node, shown));
    return {
      removed: from === 0 ? sending.removed : [],
      indexes: sending.indexes.slice(from, sending.done),
      ...columnsOfRecords(records),
      bodies,
      included,
      records,
      more: sending.done < inserted.length,
    };
  }
}

function livesOf(context: CollectionContext): LiveQueries {
  return context.lives() as LiveQueries;
}

function allNodes(node: LiveNode): LiveNode[] {
  return [node, ...node.inner.flatMap(allNodes)];
}

/** The document as the page gets it. */
function* contentOf({ context }: LiveNode, { delivered, record }: ShownDocument['match']) {
  return delivered ?? (yield* context.records.bodies.of(record));
}

/** How many partners have to come along with a document. */
function weightOf(nodes: readonly LiveNode[], owner: string): number {
  let weight = 0;
  for (const node of nodes)
    for (const { isSent, match } of node.partnersOf(owner))
      weight += isSent ? 0 : 1 + weightOf(node.inner, match.record.key);
  return weight;
}

/** The partners of documents: those that the page has not got. */
function* includedIn(node: LiveNode, owners: readonly ShownDocument[]): Coroutine<LiveIncluded> {
  const counts = new Uint32Array(owners.length);
  const rows: number[] = [];
  const fresh: ShownDocument[] = [];
  for (const [at, { match }] of owners.entries()) {
    const partners = node.partnersOf(match.record.key);
    counts[at] = partners.length;
    for (const partner of partners) {
      rows.push(partner.number);
      if (!partner.isSent) fresh.push(partner);
      partner.isSent = true;
    }
  }
  const bodies: Body[] = [];
  const missing = fresh.filter(({ match }) => match.delivered === undefined);
  const read = yield* node.context.records.bodies.ofAll(missing.map(({ match }) => match.record));
  let next = 0;
  for (const { match } of fresh) bodies.push(match.delivered ?? (read[next++] as Body));
  const included: LiveIncluded[] = [];
  for (const inner of node.inner) included.push(yield* includedIn(inner, fresh));
  const columns = {
    ...columnsOfRecords(fresh.map(({ match }) => match.record)),
    bodies,
    whole: node.compiled.select !== undefined,
  };
  const gone = Float64Array.from(node.gone);
  node.gone = [];
  const numbers = Float64Array.from(fresh, ({ number }) => number);
  return { counts, rows: Float64Array.from(rows), fresh: numbers, gone, columns, included };
}
