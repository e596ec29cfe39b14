import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import type { IncludeAsk, IncludedReply } from '../../protocol/relation-protocol.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { compileSelection } from '../find/compiled-selection.ts';
import { columnsOf } from '../find/document-scans.ts';
import type { DocumentQuery } from '../find/query.ts';
import type { Visited } from '../records/scan.ts';
import { eachWithBody, findPartners } from './find-partners.ts';
import { joinReader, ValueMap } from './join-values.ts';
import type { RelatedReading } from './reading.ts';
import { resolveCriteria } from './resolve-criteria.ts';

/** The partners of documents by one relation, and theirs. */
export class Include {
  readonly ask: IncludeAsk;
  readonly context: OperationContext;
  readonly query: DocumentQuery | undefined;
  readonly found: number;
  readonly inner: readonly Include[];
  /** By document; left out where it has none. */
  readonly #partners: ReadonlyMap<StoredRecord, readonly StoredRecord[]>;

  private constructor(
    ask: IncludeAsk,
    context: OperationContext,
    query: DocumentQuery | undefined,
    partners: ReadonlyMap<StoredRecord, readonly StoredRecord[]>,
    inner: readonly Include[],
    found: number,
  ) {
    this.ask = ask;
    this.context = context;
    this.query = query;
    this.inner = inner;
    this.found = found;
    this.#partners = partners;
  }

  /** Finds the partners of documents of a collection. */
  static *of(
    reading: RelatedReading,
    context: OperationContext,
    documents: readonly StoredRecord[],
    ask: IncludeAsk,
    pace: Pace,
  ): Coroutine<Include> {
    const partner = reading.contextOf(ask.partner);
    const criteria = yield* resolveCriteria(reading, partner, ask.criteria ?? {}, pace);
    const own = new Map<StoredRecord, readonly unknown[]>();
    const values = new ValueMap<true>();
    yield* eachWithBody(context, documents, joinReader(context, ask.from), pace, (record, all) => {
      own.set(record, all);
      for (const value of all) values.set(value, true);
    });
    const found = yield* findPartners(partner, { ...ask, criteria }, values.values, pace);
    const { skip = 0, limit = Number.POSITIVE_INFINITY } = ask;
    const end = ask.isOne ? skip + 1 : skip + limit;
    const partners = new Map<StoredRecord, readonly StoredRecord[]>();
    const shown = new Set<StoredRecord>();
    for (const [record, all] of own) {
      const list = partnersOf(all, found.byValue, found.places).slice(skip, end);
      if (list.length === 0) continue;
      partners.set(record, list);
      for (const one of list) shown.add(one);
    }
    const inner: Include[] = [];
    const next = [...shown];
    for (const each of ask.include)
      inner.push(yield* Include.of(reading, partner, next, each, pace));
    return new Include(ask, partner, found.query, partners, inner, shown.size);
  }

  /** How many documents come along with one. */
  weightOf(document: StoredRecord): number {
    const partners = this.#partners.get(document) ?? [];
    let weight = partners.length;
    if (this.inner.length > 0)
      for (const one of partners) for (const each of this.inner) weight += each.weightOf(one);
    return weight;
  }

  /** The partners of some of the documents. */
  *reply(documents: readonly StoredRecord[]): Coroutine<IncludedReply> {
    const { records, aborts } = this.context;
    const counts = new Uint32Array(documents.length);
    const rows: number[] = [];
    const places = new Map<StoredRecord, number>();
    for (const [at, document] of documents.entries()) {
      const partners = this.#partners.get(document) ?? [];
      counts[at] = partners.length;
      for (const one of partners) {
        let row = places.get(one);
        if (row === undefined) {
          row = places.size;
          places.set(one, row);
        }
        rows.push(row);
      }
    }
    const shown = [...places.keys()];
    const bodies: Body[] = yield* records.bodies.ofAll(shown);
    const visited = shown.map((record, at): Visited => ({ record, body: bodies[at] as Body }));
    const { select } = compileSelection(this.context, { select: this.ask.select });
    const {
      keys,
      flags,
      stamps,
      bodies: sent,
      whole,
    } = columnsOf(visited, select, aborts.immediate);
    const included: IncludedReply[] = [];
    for (const each of this.inner) included.push(yield* each.reply(shown));
    const columns = { keys, flags, stamps, bodies: sent, whole };
    return { counts, rows: Uint32Array.from(rows), columns, included };
  }
}

/** The partners of a document, each once, in the order of the query that found them. */
function partnersOf(
  values: readonly unknown[],
  byValue: ValueMap<StoredRecord[]>,
  places: ReadonlyMap<StoredRecord, number>,
): readonly StoredRecord[] {
  if (values.length === 1) return byValue.get(values[0]) ?? [];
  const all = new Set(values.flatMap((value) => byValue.get(value) ?? []));
  return [...all].sort((a, b) => (places.get(a) as number) - (places.get(b) as number));
}
