import { CriteriaError } from '../../errors/errors.ts';
import { compileCriteria } from '../criteria/compile-criteria.ts';
import { compareFieldPaths, isPositional } from '../path/key-path.ts';
import { checkConflicts, updateInvalid } from '../path/update-paths.ts';
import { checkSettable, deleteAt, getAt, hasAt, mismatch, setAt } from '../path/value-path.ts';
import { orderIn } from '../value/collation.ts';
import { isFields } from '../value/value-type.ts';
import { addToSet, pop, pullAll, pullMatching, push } from './array-updates.ts';
import {
  type ApplyUpdate,
  placedAt,
  replacing,
  UNCHANGED,
  type UpdatedPath,
  type UpdateOperator,
  type UpdateSource,
  type UpdateStep,
} from './update-operator.ts';

const increment = arithmetic(
  (operand) => operand,
  (before, operand) => before + operand,
);

const multiply = arithmetic(
  (operand) => (typeof operand === 'bigint' ? 0n : 0),
  (before, operand) => before * operand,
);

const least = bound(-1);
const greatest = bound(1);

const operators: Readonly<Record<string, UpdateOperator>> = {
  $set: set,
  $setOnInsert: set,
  $unset: unset,
  $rename: rename,
  $currentDate: currentDate,
  $inc: increment,
  $mul: multiply,
  $min: least,
  $max: greatest,
  $push: push,
  $addToSet: addToSet,
  $pull: pullMatching,
  $pullAll: pullAll,
  $pop: pop,
};

/** An operator of an update, on one path. */
interface PathUpdate {
  readonly path: UpdatedPath;
  readonly name: string;
  readonly operand: unknown;
}

/** One step of an update. */
interface PlacedStep {
  readonly place: UpdatedPath;
  readonly step: UpdateStep;
}

/**
 * Compiles checked update operators, with MongoDB's semantics.
 *
 * @throws {CriteriaError} of `$pull` or a filter, naming the place.
 *
 * @example
 * ```ts
 * compileUpdate({ $inc: { stock: -1 } })({ stock: 3 }, 0); // { stock: 2 }
 * ```
 */
export function compileUpdate(changes: object, source: UpdateSource = {}): ApplyUpdate {
  const updates = Object.entries(changes).flatMap(([name, operands]) =>
    name === '$setOnInsert' && !source.inserts
      ? []
      : Object.entries(operands).map(([key, operand]) => ({ path: fieldPath(key), name, operand })),
  );
  const { collation } = source;
  const paths = updates.map(({ path }) => path);
  if (!source.filters && !paths.some(({ segments }) => segments.some(isPositional)))
    return applying(updates.map((update) => stepOf(update, collation)));
  const positions = new Positions(source, paths);
  return (fields, now) => {
    const steps = updates.flatMap((update) =>
      positions.resolve(fields, update.path).map((path) => stepOf({ ...update, path }, collation)),
    );
    // Two operators may name one item.
    checkConflicts(steps.map(({ place }) => place));
    return applying(steps)(fields, now);
  };
}

function stepOf({ path, name, operand }: PathUpdate, collation: string | undefined): PlacedStep {
  return {
    // The server treats a renamed field at its new place.
    place: name === '$rename' ? fieldPath(operand as string) : path,
    step: (operators[name] as UpdateOperator)(path, operand as never, collation),
  };
}

function applying(steps: PlacedStep[]): ApplyUpdate {
  steps.sort((a, b) => compareFieldPaths(a.place.segments, b.place.segments));
  return (fields, now) => {
    for (const { step } of steps) step(fields, now);
    return fields;
  };
}

function fieldPath(path: string): UpdatedPath {
  return { path, segments: path.split('.') };
}

function set(path: UpdatedPath, operand: unknown): UpdateStep {
  return replacing(path, () => operand);
}

/** Removes a field. An item of an array becomes null, so that the others keep their positions. */
function unset({ path, segments }: UpdatedPath): UpdateStep {
  return (fields) => {
    if (!hasAt(fields, segments)) return;
    if (Array.isArray(getAt(fields, segments.slice(0, -1)))) setAt(fields, segments, null, path);
    else deleteAt(fields, segments);
  };
}

/** @param operand A boolean sets a Date, whichever it is: so does the server. */
function currentDate(path: UpdatedPath, operand: boolean | { readonly $type: string }): UpdateStep {
  const isTimestamp = (operand as { readonly $type?: string }).$type === 'timestamp';
  return replacing(path, (_, now) => (isTimestamp ? now : new Date(now)));
}

function rename(source: UpdatedPath, operand: string): UpdateStep {
  const target = fieldPath(operand);
  return (fields) => {
    refuseArrays(fields, source);
    checkSettable(fields, source.segments, source.path);
    if (!hasAt(fields, source.segments)) return;
    refuseArrays(fields, target);
    setAt(fields, target.segments, getAt(fields, source.segments), target.path);
    deleteAt(fields, source.segments);
  };
}

/** @throws {KeyError} `kind_mismatch`: as in MongoDB, fields of array items are not renamed. */
function refuseArrays(fields: object, { path, segments }: UpdatedPath): void {
  for (let length = 1; length < segments.length; length++) {
    const parent = getAt(fields, segments.slice(0, length));
    if (Array.isArray(parent)) throw mismatch(path, parent, 'objects along the path to rename');
  }
}

/** JavaScript computes numbers and bigints alike; TypeScript wants one of them. */
type Numeric = number;

/** A number and a bigint never mix: the sum would be exact or not depending on the document. */
function arithmetic(
  missing: (operand: Numeric) => unknown,
  combine: (before: Numeric, operand: Numeric) => Numeric,
) {
  return (path: UpdatedPath, operand: Numeric): UpdateStep =>
    replacing(path, (before) => {
      if (before === undefined) return missing(operand);
      if (typeof before !== typeof operand)
        throw mismatch(path.path, before, `a ${typeof operand}`);
      return combine(before as Numeric, operand);
    });
}

function bound(sign: 1 | -1) {
  return (path: UpdatedPath, operand: unknown, collation?: string): UpdateStep => {
    const compare = orderIn(collation);
    return replacing(path, (before) =>
      before === undefined || sign * compare(operand, before) > 0 ? operand : UNCHANGED,
    );
  };
}

type ItemTest = (item: unknown) => boolean;

/**
 * Resolves positional operators, with MongoDB's semantics: `$[]` is every item, `$[name]` every
 * item that a filter matches, `$` the first item that the criteria match.
 *
 * https://www.mongodb.com/docs/manual/reference/operator/update-array/
 */
class Positions {
  readonly #filters: ReadonlyMap<string, ItemTest>;
  readonly #source: UpdateSource;

  /** @throws {CriteriaError} of a filter, naming the place. */
  constructor(source: UpdateSource, paths: readonly UpdatedPath[]) {
    this.#filters = compileFilters(source, paths);
    this.#source = source;
  }

  /**
   * The paths that a path stands for in a document.
   *
   * @throws {KeyError} `kind_mismatch` where there is no array; {ValueError} `update_invalid` where
   *   the criteria match no item.
   */
  resolve(fields: object, { path, segments }: UpdatedPath): UpdatedPath[] {
    const at = segments.findIndex(isPositional);
    if (at < 0) return [{ path, segments }];
    const [before, rest] = [segments.slice(0, at), segments.slice(at + 1)];
    const items = getAt(fields, before);
    if (!Array.isArray(items)) throw mismatch(before.join('.'), items, 'an array');
    return this.#indexes(fields, before, items, segments[at] as string).flatMap((index) => {
      const resolved = [...before, String(index), ...rest];
      return this.resolve(fields, { path: resolved.join('.'), segments: resolved });
    });
  }

  #indexes(
    fields: object,
    path: readonly string[],
    items: readonly unknown[],
    operator: string,
  ): number[] {
    if (operator === '$') return [this.#matched(fields, path, items)];
    const test = this.#filters.get(operator.slice(2, -1)) ?? (() => true);
    return items.flatMap((item, index) => (test(item) ? index : []));
  }

  /**
   * The index of the first item that meets all criteria; where no item does so alone, of the first
   * that meets one of those about its array.
   */
  #matched(fields: object, path: readonly string[], items: readonly unknown[]): number {
    const array = path.join('.');
    const { criteria, collation } = this.#source;
    for (const one of criteriaAbout(criteria, array)) {
      const { test } = compileCriteria(one, collation, ofWholeDocuments);
      const index = items.findIndex((item) => test(withItem(fields, path, item)));
      if (index >= 0) return index;
    }
    throw updateInvalid(
      `${array}.$`,
      `is the first item that the criteria match: add some for items of "${array}", no negations, or use $[name] with array_filters`,
    );
  }
}

/** `$expr` says nothing of one item, and held for the document. */
const ofWholeDocuments = () => ({ test: () => true, roots: new Set<string>() });

/** Negations: where an array matches, they hold for all of its items. */
const NEGATED = /^(\$n(e|in|ot),?)+$/;

/** What criteria say of an array: all that is about it, then each by itself. */
function criteriaAbout(criteria: object | undefined, array: string): object[] {
  const isAbout = ([key, value]: [string, unknown]): boolean =>
    `${key}.`.startsWith(`${array}.`)
      ? !NEGATED.test(Object.keys(Object(value)).join())
      : key.startsWith('$') && key !== '$nor' && entriesIn(value).some(isAbout);
  const each = (given: unknown): object[] =>
    entriesIn(given).flatMap(([key, value]): object | object[] => {
      if (key === '$and') return each(value);
      if (!isAbout([key, value])) return [];
      const { $all = [value] } = Object(value);
      return $all.map((one: unknown) => ({ [key]: one }));
    });
  const parts = each(criteria);
  return parts.length > 1 ? [{ $and: parts }, ...parts] : parts;
}

function entriesIn(criteria: unknown): [string, unknown][] {
  return [criteria].flat().flatMap((one) => (isFields(one) ? Object.entries(one) : []));
}

/** The document as if an item were the only one of its array. */
function withItem(value: unknown, [step, ...rest]: readonly string[], item: unknown): object {
  if (step === undefined) return [item];
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as never;
  return Object.assign(copy, { [step]: withItem(value?.[step as never], rest, item) });
}

/** Compiles the filters that `$[name]` in paths refers to. */
function compileFilters(
  { filters = [], collation }: UpdateSource,
  paths: readonly UpdatedPath[],
): ReadonlyMap<string, ItemTest> {
  const places = new Map(paths.flatMap(({ path, segments }) => segments.map((one) => [one, path])));
  const tests = new Map<string, ItemTest>();
  for (const [index, filter] of filters.entries()) {
    const place = `array_filters[${index}]`;
    const [name = '', ...others] = new Set(namesIn(filter));
    if (others.length > 0 || !/^[a-z][A-Za-z0-9]*$/.test(name))
      throw updateInvalid(place, 'must test one name: a small letter, then letters or digits');
    if (tests.has(name)) throw updateInvalid(place, `is a second filter of "${name}"; use one`);
    if (!places.has(`$[${name}]`))
      throw updateInvalid(place, `is for $[${name}], which no path has`);
    try {
      const { test } = compileCriteria(filter, collation);
      tests.set(name, (item) => test({ [name]: item }));
    } catch (error) {
      throw error instanceof CriteriaError ? placedAt(error, `${place}.${error.place}`) : error;
    }
  }
  for (const [segment, path] of places) {
    const name = isPositional(segment) ? segment.slice(2, -1) : '';
    if (name && !tests.has(name))
      throw updateInvalid(path, `needs { '${name}.field': … } in array_filters`);
  }
  return tests;
}

function namesIn(filter: unknown): string[] {
  return entriesIn(filter).flatMap(([key, value]) =>
    key.startsWith('$') ? namesIn(value) : (key.split('.', 1) as string[]),
  );
}
