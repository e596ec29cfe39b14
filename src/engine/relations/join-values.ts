import type { Body } from '../../codec/body.ts';
import { documentBuilder, isManaged } from '../../protocol/managed.ts';
import { compilePath } from '../../query/criteria/compile-path.ts';
import { each } from '../../query/criteria/condition.ts';
import { holdsOperators } from '../../query/criteria/operators/operator.ts';
import { valueReader } from '../../query/path/own-property.ts';
import { equalValues } from '../../query/value/compare-values.ts';
import { isDate, isFields, isRegExp } from '../../query/value/value-type.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { decodedValue } from '../records/scan.ts';

/** Reads the values of documents that are looked up elsewhere, or by which they are found. */
export interface JoinReader {
  /** Whether it needs the bodies of documents. */
  readonly needsBodies: boolean;
  /**
   * The values at the path: of an array its items. Null, missing values, patterns and arrays of
   * arrays belong to nothing.
   */
  read(record: StoredRecord, body: Body | undefined): readonly unknown[];
}

/** Reads the values at a path of the documents of a collection. */
export function joinReader({ settings, records }: OperationContext, path: string): JoinReader {
  if (path === '_id') return { needsBodies: false, read: ({ key }) => [key] };
  const keep = settings.caching && records.bodies.resident;
  const fieldsOf = (record: StoredRecord, body: Body | undefined) =>
    decodedValue(record, body as Body, keep) as object;
  const build = documentBuilder(settings);
  const segments = path.split('.');
  const documentOf = isManaged(segments[0] as string)
    ? (record: StoredRecord, body: Body | undefined) =>
        build(record.key, record.flags, record.stamps, fieldsOf(record, body))
    : fieldsOf;
  const readOne = valueReader(path);
  const readAll = itemsReader(segments);
  return {
    needsBodies: true,
    read(record, body) {
      const document = documentOf(record, body);
      const value = readOne(document);
      if (Array.isArray(value)) return readAll(document);
      return isJoining(value) ? [value] : [];
    },
  };
}

function itemsReader(segments: readonly string[]): (document: object) => unknown[] {
  let found: unknown[] = [];
  const visit = compilePath(
    segments,
    each((value) => {
      if (isJoining(value)) found.push(value);
      return false;
    }),
    'document',
  );
  return (document) => {
    found = [];
    visit(document);
    return found;
  };
}

function isJoining(value: unknown): boolean {
  switch (typeof value) {
    case 'undefined':
      return false;
    case 'object':
      if (value === null || Array.isArray(value) || isRegExp(value)) return false;
      return !(isFields(value) && holdsOperators(value));
    default:
      return true;
  }
}

/** A map whose keys are equal where criteria say so: `1` and `1n`, two Dates of one time. */
export class ValueMap<V> {
  readonly #scalars = new Map<unknown, V>();
  readonly #dates = new Map<number, V>();
  readonly #others: (readonly [value: unknown, item: V])[] = [];
  /** The keys, each once, in the order of their first appearance. */
  readonly values: unknown[] = [];

  get(value: unknown): V | undefined {
    if (typeof value !== 'object') return this.#scalars.get(scalar(value));
    if (isDate(value)) return this.#dates.get(value.getTime());
    return this.#others.find(([other]) => equalValues(other, value))?.[1];
  }

  set(value: unknown, item: V): void {
    if (this.get(value) === undefined) this.values.push(value);
    if (typeof value !== 'object') this.#scalars.set(scalar(value), item);
    else if (isDate(value)) this.#dates.set(value.getTime(), item);
    else this.#others.push([value, item]);
  }
}

/** A bigint and an equal number are one value, but two in a Map. */
function scalar(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isFinite(number) && BigInt(number) === value ? number : value;
}
