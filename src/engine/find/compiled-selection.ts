import type { Body } from '../../codec/body.ts';
import { nameCollection } from '../../errors/errors.ts';
import { ARCHIVED, documentBuilder } from '../../protocol/managed.ts';
import type { ArchivedFilter, Selection } from '../../protocol/requests.ts';
import {
  type CompiledCriteria,
  type CompileExpression,
  type CriteriaPart,
  compileCriteria,
} from '../../query/criteria/compile-criteria.ts';
import { lateOperators } from '../../query/criteria/late-operators.ts';
import { compileSelect } from '../../query/projection.ts';
import { compileSort, type SortOrder } from '../../query/sort/compile-sort.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { isManaged } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { decodedValue, type RecordTest } from '../records/scan.ts';

/** What a selection means for records. */
export interface CompiledSelection {
  readonly criteria: object;
  readonly collation: Selection['collation'];
  readonly archived: ArchivedFilter;
  /** Whether the record is of the kind looked for, archived or not; needs no body. */
  readonly isOfKind: (record: StoredRecord) => boolean;
  /**
   * The same, and that it had not expired as the selection was compiled: not for a live query,
   * which outlives that time.
   */
  readonly wanted: (record: StoredRecord) => boolean;
  /** Whether the document matches the criteria; left out where all do. */
  readonly test: RecordTest | undefined;
  /** What the criteria consist of; all must match. */
  readonly parts: readonly CriteriaPart[];
  readonly order: SortOrder | undefined;
  /** The document that the order looks at. */
  readonly sorted: (record: StoredRecord, body: Body) => object;
  /** Whether neither criteria nor order look at managed fields. */
  readonly byFields: boolean;
  /** The document as `select` leaves it, where it is given. */
  readonly select: ((record: StoredRecord, body: Body) => object) | undefined;
}

/** @throws {CriteriaError} naming the collection and the place. */
export function compileSelection(
  context: OperationContext,
  selection: Partial<Selection>,
): CompiledSelection {
  try {
    return compile(context, selection);
  } catch (error) {
    throw nameCollection(error, context.settings.name);
  }
}

type ReadDocument = (record: StoredRecord, body: Body) => object;

/** What reads the documents of a collection: their own fields, or with the managed ones. */
export function documentReaders({ settings, records }: OperationContext): {
  readonly fieldsOf: ReadDocument;
  readonly wholeOf: ReadDocument;
} {
  // While bodies still come from storage, keeping two forms of each would cost more than decoding
  // again.
  const keep = settings.caching && records.bodies.resident;
  const build = documentBuilder(settings);
  const fieldsOf: ReadDocument = (record, body) => decodedValue(record, body, keep) as object;
  const wholeOf: ReadDocument = (record, body) =>
    build(record.key, record.flags, record.stamps, fieldsOf(record, body));
  return { fieldsOf, wholeOf };
}

function compile(
  context: OperationContext,
  { criteria = {}, archived = false, sort, select, collation, now }: Partial<Selection>,
): CompiledSelection {
  const { records, clock } = context;
  const { fieldsOf, wholeOf } = documentReaders(context);
  const late = lateOperators;
  const expressions: CompileExpression | undefined =
    late &&
    ((expression, place) =>
      late.expression(expression, place, { now: now ?? clock.now(), collation }));
  const isByFields = (compiled: Pick<CompiledCriteria, 'roots'> | undefined) =>
    !compiled || ![...compiled.roots].some(isManaged);
  const matching =
    Object.keys(criteria).length > 0
      ? compileCriteria(criteria, collation, expressions)
      : undefined;
  const matched = isByFields(matching) ? fieldsOf : wholeOf;
  const order = sort === undefined ? undefined : compileSort(sort, collation);
  const isOfKind = archivedTest(archived);
  const project =
    select === undefined
      ? undefined
      : late && !Array.isArray(select)
        ? late.select(select, isManaged, collation)
        : compileSelect(select);
  return {
    criteria,
    collation,
    archived,
    isOfKind,
    wanted: wantedTest(isOfKind, records.hides),
    test: matching && ((record, body) => matching.test(matched(record, body))),
    parts: matching?.parts ?? [],
    order,
    sorted: isByFields(order) ? fieldsOf : wholeOf,
    byFields: isByFields(matching) && isByFields(order),
    select: project && ((record, body) => project(wholeOf(record, body))),
  };
}

function wantedTest(
  test: CompiledSelection['wanted'],
  hides: OperationContext['records']['hides'],
): CompiledSelection['wanted'] {
  return hides ? (record) => test(record) && !hides(record) : test;
}

function archivedTest(archived: ArchivedFilter): CompiledSelection['wanted'] {
  if (archived === true) return () => true;
  const wanted = archived === 'only' ? ARCHIVED : 0;
  return (record) => (record.flags & ARCHIVED) === wanted;
}
