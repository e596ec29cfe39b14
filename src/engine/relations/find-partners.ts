import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { isManaged, type StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { criteriaFilter } from '../find/candidates.ts';
import { DocumentQuery } from '../find/query.ts';
import { fieldReader, type JoinReader, joinReader, ValueMap } from './join-values.ts';

/** With more values the criteria of the partners alone find them: planning would cost more. */
const MOST_VALUES = 10_000;

/** Bodies that are read together. */
const BATCH = 1024;

export interface PartnerAsk {
  /** The path of the partners that has the values. */
  readonly to: string;
  /** Criteria of partners, without `$some` and the like, which {@link resolveCriteria} replaces. */
  readonly criteria?: object | undefined;
  readonly archived: boolean | 'only';
  readonly sort?: object | undefined;
}

export interface FoundPartners {
  /** In order, by the value that they have at `to`. */
  readonly byValue: ValueMap<StoredRecord[]>;
  /** The place of each in the order. */
  readonly places: ReadonlyMap<StoredRecord, number>;
  readonly query: DocumentQuery | undefined;
}

/**
 * Finds the partners of some values in a collection: the documents that have one of them at `to`,
 * by one query, in its order.
 *
 * The context decides the instant: pass that of a `RelatedReading`, by the number of the partner's
 * handle, which the page names in `related.partners` of its request. Bodies of what is found come
 * from `context.records.bodies.ofAll(records)`. In a transaction the query counts as read.
 *
 * ```ts
 * const values = yield* joinedValues(context, records, from, pace);
 * const partner = reading.contextOf(related.partners[0]);
 * const { byValue } = yield* findPartners(partner, { to, archived: false }, values, pace);
 * byValue.get(values[0]); // records in order, or undefined
 * ```
 */
export function* findPartners(
  context: OperationContext,
  { to, criteria, archived, sort }: PartnerAsk,
  values: readonly unknown[],
  pace: Pace,
): Coroutine<FoundPartners> {
  const byValue = new ValueMap<StoredRecord[]>();
  const places = new Map<StoredRecord, number>();
  if (values.length === 0) return { byValue, places, query: undefined };
  const wanted = new ValueMap<true>();
  for (const value of values) wanted.set(value, true);
  const asked = valuesToFind(to, wanted.values);
  const query = new DocumentQuery(
    context,
    { criteria: both(asked, criteria), archived, sort },
    pace,
  );
  const found = yield* query.records();
  const reader = joinReader(context, to);
  yield* eachWithBody(context, found, reader, pace, (record, values) => {
    for (const value of values) {
      if (!wanted.get(value)) continue;
      const bucket = byValue.get(value);
      if (!bucket) byValue.set(value, [record]);
      // An array may have a value twice.
      else if (bucket.at(-1) !== record) bucket.push(record);
      if (!places.has(record)) places.set(record, places.size);
    }
  });
  return { byValue, places, query };
}

/** Criteria of those that have one of some values. */
export function valuesToFind(to: string, values: readonly unknown[]): object {
  return values.length > MOST_VALUES ? {} : { [to]: { $in: values } };
}

export function both(one: object, other: object | undefined): object {
  return other && Object.keys(other).length > 0 ? { $and: [one, other] } : one;
}

/** The values by which records join, each once. */
export function* joinedValues(
  context: OperationContext,
  list: readonly StoredRecord[],
  path: string,
  pace: Pace,
): Coroutine<unknown[]> {
  const found = new ValueMap<true>();
  yield* eachWithBody(context, list, joinReader(context, path), pace, (_, values) => {
    for (const value of values) found.set(value, true);
  });
  return found.values;
}

/**
 * The values by which the documents of a query join, each once, and how many documents there are.
 */
export function* valuesOfQuery(
  context: OperationContext,
  query: DocumentQuery,
  path: string,
): Coroutine<{ readonly values: unknown[]; readonly count: number }> {
  const { pace, compiled, plan, candidates } = query;
  const { records } = context;
  const [root] = path.split('.');
  const isByFields = compiled.byFields && !isManaged(root as string);
  const decoded = plan.kind === 'scan' && isByFields ? records.decoded() : undefined;
  if (!decoded) {
    const found = yield* query.records();
    return { values: yield* joinedValues(context, found, path, pace), count: found.length };
  }
  // A scan of all: of a record that does not match, nothing is touched.
  const { documents } = decoded;
  const list = records.list();
  const filters = compiled.parts.map((part) => criteriaFilter(part, decoded));
  const column = decoded.column(path);
  const read = fieldReader(path);
  const texts = new Set<string>();
  const others = new ValueMap<true>();
  const block = new Int32Array(BATCH);
  let count = 0;
  for (let from = 0; from < documents.length; from += BATCH) {
    let length = Math.min(BATCH, documents.length - from);
    for (let at = 0; at < length; at++) block[at] = from + at;
    if (filters.length > 0) candidates.documents += length;
    for (const filter of filters) length = filter(block, length);
    for (let at = 0; at < length; at++) {
      const place = block[at] as number;
      if (!compiled.wanted(list[place] as StoredRecord)) continue;
      count++;
      const value = column?.[place];
      const values = typeof value === 'string' ? [value] : read(documents[place] as object);
      for (const one of values)
        if (typeof one === 'string') texts.add(one);
        else others.set(one, true);
    }
    if (pace.late) yield* pace.pause();
  }
  return { values: [...texts, ...others.values], count };
}

/** Visits records, with their values. */
export function* eachWithBody(
  { records }: OperationContext,
  list: readonly StoredRecord[],
  reader: JoinReader,
  pace: Pace,
  visit: (record: StoredRecord, values: readonly unknown[]) => void,
): Coroutine<void> {
  for (let from = 0; from < list.length; from += BATCH) {
    const batch = list.slice(from, from + BATCH);
    const bodies: (Body | undefined)[] = reader.needsBodies
      ? yield* records.bodies.ofAll(batch)
      : [];
    for (const [at, record] of batch.entries()) visit(record, reader.read(record, bodies[at]));
    if (pace.late) yield* pace.pause();
  }
}
