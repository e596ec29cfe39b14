import type { Body } from '../../codec/body.ts';
import { decode } from '../../codec/capture.ts';
import { deepFreeze } from '../../codec/deep-freeze.ts';
import { sameValue } from '../../codec/same-value.ts';
import type { ListPart, LiveSpec } from '../../protocol/live-protocol.ts';
import { type DocumentBuilder, documentBuilder } from '../../protocol/managed.ts';
import type { IncludeAsk, LiveIncluded } from '../../protocol/relation-protocol.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { LiveDocuments } from '../sending/documents.ts';
import { documentAt } from '../sending/documents.ts';
import type { HandleChannel, LiveChannel } from '../sending/handle-channel.ts';
import type { HandleRequest } from '../sending/sender.ts';
import {
  hasRelated,
  type PartnerHandle,
  type RelatedCollection,
  RelationTree,
  startsOf,
} from './relation-tree.ts';

interface LiveQuerySource {
  readonly search?: { readonly params: object } | undefined;
  readonly include?: unknown;
  readonly pipeline?: unknown;
}

/** The channel of a live query that names relations; `undefined` for any other. */
export function liveChannel(
  channel: HandleChannel,
  related: RelatedCollection,
  settings: CollectionSettings,
  { search, include, pipeline }: LiveQuerySource,
): LiveChannel | undefined {
  const params = pipeline ?? search?.params;
  if (include === undefined && !hasRelated(params, related.relations)) return undefined;
  const tree = new RelationTree(related, include, params);
  const shown = new ShownPartners(tree, settings);
  let isAnnounced = false;
  return {
    registry: channel.registry,
    shared: shown,
    listen(listener) {
      shown.restart();
      return channel.listen((update) => {
        isAnnounced = 'changed' in update;
        if ('included' in update) shown.take(update);
        listener(update);
      });
    },
    unlisten: (live) => channel.unlisten(live),
    send(request) {
      if (!isAnnounced) return channel.send(request);
      isAnnounced = false;
      return channel.send({ ...request, mayHang: request.mayHang ?? tree.mayHang });
    },
    async sendInOrder(request) {
      if (request.op !== 'live') return channel.sendInOrder(request);
      const asked = asking(request, tree);
      const { waiting } = tree;
      if (waiting) await waiting;
      return channel.sendInOrder(asked);
    },
  };
}

function asking(request: HandleRequest<'live'>, tree: RelationTree): HandleRequest<'live'> {
  return {
    ...request,
    spec: specOf(request.spec, tree),
    ...tree.asking(request, ['relations', 'transactions']),
  };
}

function specOf(spec: LiveSpec, tree: RelationTree): LiveSpec {
  if (spec.kind === 'item') return { kind: 'list', criteria: { _id: spec.key }, archived: true };
  return spec.kind === 'aggregate'
    ? { ...spec, pipeline: tree.rewrite(spec.pipeline) }
    : { ...spec, criteria: tree.rewrite(spec.criteria ?? {}) };
}

/** The partners of a document, by its place in a part. */
type ReadPartners = (index: number) => unknown;

/** Documents of a live query, with their partners. */
class ShownPartners implements LiveDocuments {
  readonly #tree: RelationTree;
  readonly #build: DocumentBuilder;
  readonly #rows = new WeakMap<object, readonly ReadPartners[]>();
  #tables: readonly PartnerTable[] = [];

  constructor(tree: RelationTree, settings: CollectionSettings) {
    this.#tree = tree;
    this.#build = documentBuilder(settings);
  }

  /** Forgets the partners of an engine that was lost. */
  restart(): void {
    const { includes, partners } = this.#tree;
    this.#tables = includes.map((ask) => new PartnerTable(ask, partners));
  }

  take(part: ListPart): void {
    const included = part.included ?? [];
    const rows = included.map((one, at) => (this.#tables[at] as PartnerTable).take(one));
    this.#rows.set(part, rows);
  }

  ofPart(part: ListPart, index: number): object {
    const fields = decode(part.bodies[index] as Body) as object;
    return this.#withPartners(part, index, documentAt(this.#build, part, index, fields));
  }

  ofWhole(part: ListPart, index: number): object {
    return this.#withPartners(part, index, decode(part.bodies[index] as Body) as object);
  }

  #withPartners(part: ListPart, index: number, document: object): object {
    const { includes } = this.#tree;
    for (const [at, read] of (this.#rows.get(part) ?? []).entries())
      (document as Record<string, unknown>)[(includes[at] as IncludeAsk).name] = read(index);
    return document;
  }
}

/** The partners that documents show, by their numbers. Unchanged ones stay the same objects. */
class PartnerTable {
  readonly #ask: IncludeAsk;
  readonly #build: DocumentBuilder;
  readonly #inner: readonly PartnerTable[];
  readonly #documents = new Map<number, object>();

  constructor(ask: IncludeAsk, partners: RelationTree['partners']) {
    this.#ask = ask;
    this.#build = documentBuilder((partners.get(ask.partner) as PartnerHandle).settings);
    this.#inner = ask.include.map((inner) => new PartnerTable(inner, partners));
  }

  take({ counts, rows, fresh, gone, columns, included }: LiveIncluded): ReadPartners {
    const inner = included.map((one, at) => (this.#inner[at] as PartnerTable).take(one));
    for (const [at, number] of fresh.entries()) {
      const fields = decode(columns.bodies[at] as Body) as object;
      const made = columns.whole ? fields : documentAt(this.#build, columns, at, fields);
      for (const [place, read] of inner.entries())
        (made as Record<string, unknown>)[(this.#ask.include[place] as IncludeAsk).name] = read(at);
      const known = this.#documents.get(number);
      if (!known || !sameValue(known, made)) this.#documents.set(number, deepFreeze(made));
    }
    const starts = startsOf(counts);
    const lists = Array.from(counts, (_, index) =>
      Array.from(rows.subarray(starts[index], starts[index + 1]), (number) =>
        this.#documents.get(number),
      ),
    );
    for (const number of gone) this.#documents.delete(number);
    return (index) => {
      const list = lists[index] ?? [];
      return this.#ask.isOne ? (list[0] ?? null) : list;
    };
  }
}
