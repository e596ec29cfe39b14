import { type Check, checkOptions } from '../../api/options/option-checks.ts';
import type { Body } from '../../codec/body.ts';
import { encode } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { CriteriaError, OptionError } from '../../errors/errors.ts';
import type { SearchAsk } from '../../protocol/live-protocol.ts';
import type { PartName } from '../../protocol/parts.ts';
import type { After, ArchivedFilter, Selection } from '../../protocol/requests.ts';
import {
  criteriaInvalid,
  operandInvalid,
  placeBelow,
  unexpectedValue,
} from '../../query/query-errors.ts';
import type { Search } from '../sending/observed-call.ts';
import { checkSearch, copied, findChecks } from './search.ts';

const { archived, collation, where, signal, sort } = findChecks;
const matchChecks = { archived, collation, where, signal };
const oneChecks = { ...matchChecks, sort };

type Test = (document: never) => unknown;

/** A query, split into the engine's part and the part with the caller's functions. */
export interface FindQuery {
  readonly selection: Selection;
  /** Of an aggregation: the stages, over what is selected. */
  readonly pipeline?: object;
  /** The caller's functions; a document must pass all. */
  readonly test: ((document: object) => boolean) | undefined;
  readonly skip: number;
  readonly limit: number;
  /** Paths to select here, as functions get whole documents. */
  readonly select: object | undefined;
}

interface PageEnd extends Omit<After, 'id'> {
  readonly rank: number;
  readonly sort: string | undefined;
}

/** Ends of pages, by the last document of each, which callers pass as `after`. */
const pageEnds = new WeakMap<object, PageEnd>();

/**
 * Checks the arguments of a query, and splits it like {@link findQuery}.
 * docs/decisions/009-semantics.md lists the corner cases.
 */
export function parseFindQuery(params: unknown, options: unknown, most?: number): FindQuery {
  return findQuery(checkSearch(params, options), most);
}

/**
 * Like {@link parseFindQuery}, of a method that changes all matches, which takes no order and no
 * part of it, or the first.
 *
 * @param checks Of further options; their values come with the query.
 */
export function parseMatchQuery(
  params: unknown,
  options: unknown,
  isOne = false,
  checks: Readonly<Record<string, Check>> = {},
): FindQuery & Pick<Search, 'given'> {
  const search = checkSearch(params, options, { ...(isOne ? oneChecks : matchChecks), ...checks });
  return { ...findQuery(search, isOne ? 1 : undefined), given: search.given };
}

/** Deepest nesting of criteria: what compiles and tests them recurses. */
const MAX_CRITERIA_DEPTH = 100;

/** Literal characters behind `^`: without alternatives and quantifiers, nothing backtracks. */
const LITERAL_PREFIX = /^\^(?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])*$/;

/** Splits a query: the engine applies the criteria, this thread the functions. */
export function findQuery(
  { params, given, sort, select, collation }: Search,
  most = Number.POSITIVE_INFINITY,
): FindQuery {
  const isTest = typeof params === 'function';
  const tests = [isTest ? params : undefined, given.where].filter(Boolean) as Test[];
  const skip = (given.skip as number | undefined) ?? 0;
  const limit = Math.min((given.limit as number | undefined) ?? most, most);
  const criteria = isTest ? undefined : params;
  const traits: CriteriaTraits = isPlainObject(select) ? { needs: ['expressions'] } : {};
  checkCriteria(criteria, '', traits);
  checkCriteria(select, 'select', traits);
  if (Array.isArray(select)) checkPaths(select);
  if (given.after !== undefined || collation) addPart(traits, 'updates');
  const selection: Selection = {
    criteria,
    ...traits,
    archived: (given.archived as ArchivedFilter | undefined) ?? false,
    sort,
    collation,
    after:
      given.after === undefined
        ? undefined
        : pageEnd(given.after as { _id: string }, orderOf({ sort, collation })),
  };
  if (tests.length === 0) {
    return {
      selection: {
        ...selection,
        skip,
        limit: Number.isFinite(limit) ? limit : undefined,
        select,
        all: true,
      },
      test: undefined,
      skip: 0,
      limit: Number.POSITIVE_INFINITY,
      select: undefined,
    };
  }
  const test = (document: object) =>
    tests.every((each) => passesPredicate(each, document as never));
  // The engine checks the query even with `limit: 0`.
  const asked = limit === 0 ? { ...selection, limit } : selection;
  return { selection: asked, test, skip, limit, select };
}

/** `lines.$` is an item that criteria found, in MongoDB: no path of a document. */
function checkPaths(paths: readonly unknown[]): void {
  const at = paths.findIndex((path) => /\.\$$/.test(path as string));
  if (at >= 0) {
    const expected = 'a path; the item that criteria find is { $elemMatch: criteria }';
    throw unexpectedValue('select_invalid', `select[${at}]`, expected, paths[at]);
  }
}

/** Makes the query of a search. */
export type ParseSearch = (
  wanted: SearchAsk['wanted'] | 'nearest' | 'neighbours' | 'hybrid',
  given: unknown,
  options: unknown,
) => FindQuery;

/** The parser of searches. @throws {OptionError} `option_missing` without a text index */
export function searching<Parse>(parse: Parse | undefined): Parse {
  if (parse) return parse;
  const message =
    "A search needs an index of texts or vectors: `indexes: [{ text: ['title', 'body'] }]`.";
  throw new OptionError('option_missing', message, { place: 'indexes' });
}

const PIPELINE_PARTS: readonly PartName[] = ['aggregation', 'expressions'];
const FOREIGN_PARTS: readonly PartName[] = [...PIPELINE_PARTS, 'relations', 'transactions'];

export function parsePipeline(pipeline: unknown, options: unknown): FindQuery {
  const search = checkSearch({}, options, { archived, collation, signal });
  return pipelineQuery(search, copied(pipeline, 'pipeline'));
}

/** The query of a pipeline, whose stages the engine checks. @param pipeline A copy. */
export function pipelineQuery(search: Search, pipeline: unknown): FindQuery {
  if (!Array.isArray(pipeline))
    throw unexpectedValue('pipeline_invalid', 'pipeline', 'a list of stages', pipeline);
  const query = findQuery(search);
  const { mayHang, needs = [] } = checkCriteria(pipeline, 'pipeline', {
    needs: query.selection.needs ?? [],
  });
  const partners = foreignNames(pipeline);
  const asked =
    partners.length > 0
      ? { needs: [...FOREIGN_PARTS, ...needs], related: { include: [], partners } }
      : { needs: [...PIPELINE_PARTS, ...needs] };
  return { ...query, selection: { ...query.selection, mayHang, ...asked }, pipeline };
}

/** What a pipeline names as other collections; the engine checks its stages. */
function foreignNames(pipeline: unknown): string[] {
  if (!Array.isArray(pipeline)) return [];
  return pipeline.flatMap((stage) => {
    const { $lookup, $unionWith, $facet } = stage ?? {};
    const { from, coll = $unionWith, pipeline: inner } = { ...$lookup, ...$unionWith };
    const name = from ?? coll;
    const joins = isPlainObject(stage) && ('$lookup' in stage || '$unionWith' in stage);
    const own = joins ? [typeof name === 'string' ? name : ''] : [];
    return [...own, ...[inner, ...Object.values($facet ?? {})].flatMap(foreignNames)];
  });
}

/** Two queries of the same order have the same. */
function orderOf({ sort, collation }: Pick<Search, 'sort' | 'collation'>): string | undefined {
  return sort && JSON.stringify([sort, collation]);
}

function pageEnd(document: { readonly _id: string }, order: string | undefined): After {
  const { _id: id } = document;
  const { sort, ...end }: Partial<PageEnd> = pageEnds.get(document) ?? {};
  // In the same order the values at the time of the page count, in another the document's own.
  if (end.rank !== undefined && sort === order) return { id, ...end };
  const body = encode(isPlainObject(document) ? document : {}, 'after', true);
  return { id, rank: end.rank, body };
}

export function notePageEnd(
  document: object | undefined,
  { selection }: FindQuery,
  end: { readonly rank: number; readonly key?: unknown; readonly body?: Body },
): void {
  const { sort, collation } = selection;
  if (document) pageEnds.set(document, { ...end, sort: orderOf({ sort, collation }) });
}

/** Calls a predicate. Refuses a promise, which would match every document. */
export function passesPredicate<T>(predicate: (item: T) => unknown, item: T): boolean {
  const result = predicate(item);
  if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') {
    throw new CriteriaError(
      'predicate_async',
      'The predicate returned a promise; it must return at once whether the document matches.',
      { place: 'params' },
    );
  }
  return Boolean(result);
}

/**
 * What is syntax in PCRE, and letters in JavaScript: a pattern with it finds nothing, or the wrong
 * things.
 */
const PCRE = /\\(?:[ACEGHKNQRXZaeghoz]|[pPux]\{|[pP][CLMNPSZ])|\[:\^?[a-z]+:\]/;

/** The parts with the code of operators. */
const PARTS: Readonly<Record<string, PartName>> = {
  $expr: 'expressions',
  $all: 'updates',
  $elemMatch: 'updates',
  $mod: 'updates',
  $not: 'updates',
  $options: 'updates',
  $regex: 'updates',
  $size: 'updates',
  $type: 'updates',
};

export interface CriteriaTraits {
  /** A pattern that may hang. A literal prefix such as `/^abc/` cannot. */
  mayHang?: true;
  /** Where it has an operator whose code is a part. */
  needs?: readonly PartName[];
}

/**
 * Refuses criteria that are nested too deeply or have holes, and patterns in the syntax of PCRE,
 * which MongoDB's are.
 *
 * @param criteria Copied criteria.
 * @param traits Gets theirs as well.
 * @throws {CriteriaError} `criteria_invalid`, `operand_invalid`
 */
export function checkCriteria(
  criteria: unknown,
  place: string,
  traits: CriteriaTraits = {},
): Readonly<CriteriaTraits> {
  visitCriteria(criteria, place, traits, 0, false);
  return traits;
}

function visitCriteria(
  criteria: unknown,
  place: string,
  traits: CriteriaTraits,
  depth: number,
  isValue: boolean,
): void {
  if (depth > MAX_CRITERIA_DEPTH) {
    const problem = `are nested over ${MAX_CRITERIA_DEPTH} levels.`;
    throw criteriaInvalid(`${place.slice(0, 200)}…`, problem);
  }
  if (Array.isArray(criteria)) {
    // Not all indexes of a sparse array: there may be thousands of millions.
    for (let at = 0; at < criteria.length; at++) {
      const below = placeBelow(place, at);
      if (!(at in criteria)) throw criteriaInvalid(below, 'are a hole in an array; use null.');
      visitCriteria(criteria[at], below, traits, depth + 1, isValue);
    }
  } else if (criteria instanceof RegExp) {
    notePattern(criteria.source, traits);
    if (!isValue) {
      addPart(traits, 'updates');
      checkPattern(criteria.source, criteria.flags, place);
    }
  } else if (isPlainObject(criteria)) {
    for (const [key, value] of Object.entries(criteria)) {
      const at = placeBelow(place, key);
      const part = key.startsWith('$bits') ? 'expressions' : key[0] === '$' && PARTS[key];
      if (part) addPart(traits, part);
      const isPattern = key === '$regex' || (key === 'regex' && /\.\$regex\w+$/.test(place));
      if (isPattern && typeof value === 'string') {
        notePattern(value, traits);
        if (!isValue) checkPattern(value, criteria.$options ?? criteria.options, at);
      }
      // It compares with a RegExp that is stored.
      else visitCriteria(value, at, traits, depth + 1, isValue || key === '$eq');
    }
  }
}

function addPart(traits: CriteriaTraits, part: PartName): void {
  if (!traits.needs?.includes(part)) traits.needs = [...(traits.needs ?? []), part];
}

function notePattern(source: string, traits: CriteriaTraits): void {
  if (!LITERAL_PREFIX.test(source)) traits.mayHang = true;
}

function checkPattern(source: string, flags: unknown, place: string): void {
  const [foreign] = PCRE.exec(source.replaceAll('\\\\', '__')) ?? [];
  if (!foreign || /[uv]/.test(String(flags ?? ''))) return;
  const expected = `a pattern of JavaScript ("${foreign}" is PCRE's; \\p{…} and \\u{…} need the flag u)`;
  throw operandInvalid(place || 'params', expected, new RegExp(source));
}

/**
 * The option `include` of a document by its id: the only one, in a collection with relations. What
 * `map` passes behind an id is none.
 *
 * @throws {OptionError} `option_unknown`, `option_invalid`
 */
export function includeIn(options: unknown, hasRelations = true): unknown {
  const given = typeof options === 'number' ? {} : (options ?? {});
  const isUnset = isPlainObject(given) && 'include' in given && given.include === undefined;
  const checks: Record<string, Check> =
    hasRelations || isUnset ? { include: findChecks.select } : {};
  return checkOptions(given, checks, 'options').include;
}
