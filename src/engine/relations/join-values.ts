import type { Body } from '../../codec/body.ts';
import { compilePath } from '../../query/criteria/compile-path.ts';
import { each } from '../../query/criteria/condition.ts';
import { holdsOperators } from '../../query/criteria/operators/operator.ts';
import { valueReader } from '../../query/path/own-property.ts';
import { equalValues } from '../../query/value/compare-values.ts';
import { isDate, isFields, isRegExp } from '../../query/value/value-type.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { isManaged } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { documentReaders } from '../find/compiled-selection.ts';

/** Reads the values of documents that are looked up elsewhere, or by which they are found. */
export interface JoinReader {
  readonly needsBodies: boolean;
  /** The values at the path, of an array its items; null, missing ones and patterns are none. */
  read(record: StoredRecord, body: Body | undefined): readonly unknown[];
}

/** Reads the values at a path of the documents of a collection. */
export function joinReader(context: OperationContext, path: string): JoinReader {
  if (path === '_id') return { needsBodies: false, read: ({ key }) => [key] };
  const { fieldsOf, wholeOf } = documentReaders(context);
  const [root] = path.split('.');
  const documentOf = isManaged(root as string) ? wholeOf : fieldsOf;
  const read = fieldReader(path);
  return { needsBodies: true, read: (record, body) => read(documentOf(record, body as Body)) };
}

/** As {@link JoinReader.read}, of documents that have the field. */
export function fieldReader(path: string): (document: object) => readonly unknown[] {
  const readOne = valueReader(path);
  const readAll = itemsReader(path.split('.'));
  return (document) => {
    const value = readOne(document);
    if (Array.isArray(value)) return readAll(document);
    return isJoining(value) ? [value] : [];
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
  readonly #simple = new Map<unknown, Entry<V>>();
  readonly #dates = new Map<number, Entry<V>>();
  #others: Entry<V>[] = [];

  get values(): unknown[] {
    return this.#entries().map(({ value }) => value);
  }

  get items(): V[] {
    return this.#entries().map(({ item }) => item);
  }

  get(value: unknown): V | undefined {
    return this.#find(value)?.item;
  }

  set(value: unknown, item: V): void {
    const known = this.#find(value);
    const entry = { value, item };
    if (known) known.item = item;
    else if (typeof value !== 'object') this.#simple.set(simple(value), entry);
    else if (isDate(value)) this.#dates.set(value.getTime(), entry);
    else this.#others.push(entry);
  }

  delete(value: unknown): void {
    if (typeof value !== 'object') this.#simple.delete(simple(value));
    else if (isDate(value)) this.#dates.delete(value.getTime());
    else this.#others = this.#others.filter((other) => !equalValues(other.value, value));
  }

  #find(value: unknown): Entry<V> | undefined {
    if (typeof value !== 'object') return this.#simple.get(simple(value));
    if (isDate(value)) return this.#dates.get(value.getTime());
    return this.#others.find((other) => equalValues(other.value, value));
  }

  #entries(): Entry<V>[] {
    return [...this.#simple.values(), ...this.#dates.values(), ...this.#others];
  }
}

interface Entry<V> {
  readonly value: unknown;
  item: V;
}

/** A bigint and an equal number are one value, but two in a Map. */
function simple(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isFinite(number) && BigInt(number) === value ? number : value;
}
