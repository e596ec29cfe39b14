import { type Check, checkOptions, flag, integer, oneOf } from '../../api/options/option-checks.ts';
import { OptionError, ValueError } from '../../errors/errors.ts';
import type { IndexAsk, NearestAsk, SearchAsk } from '../../protocol/live-protocol.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { keyName } from '../../query/index/index-key.ts';
import { type VectorSettings, vectorOf } from '../../query/vector/vector-of.ts';
import { type FindQuery, findQuery, type ParseSearch } from '../find/find-query.ts';
import { checkSearch, findChecks } from '../find/search.ts';

/** Hits of a search by words that are made one result with the nearest. */
const FUSED = 100;

const anything: Check = { allowed: '', test: () => true };
const { archived, select, signal } = findChecks;

const shared: Record<string, Check> = {
  criteria: { ...anything, fallback: {} },
  path: { allowed: 'the path of a vector index', test: (path) => typeof path === 'string' },
  exact: { allowed: 'true or false', test: (value) => typeof value === 'boolean' },
  ...{ archived, select, signal },
};

const upTo = (most: number, fallback: number): Check => integer(1, most, fallback);

const nearestChecks: Record<string, Check> = { ...shared, k: upTo(1000, 10) };

const hybridChecks: Record<string, Check> = {
  ...shared,
  limit: upTo(200, 20),
  mode: oneOf(['all', 'any'], 'all'),
  prefix: { ...flag, fallback: true },
  fuzzy: flag,
};

/** The query of words of a `hybrid`, and what makes the second one of its hits. */
export interface HybridQuery extends FindQuery {
  fused(hits: readonly { readonly document: { readonly _id: string } }[]): FindQuery;
}

/** How searches by vectors are asked in a collection. */
export class NearestParser {
  readonly #indexes: readonly IndexDefinition[];

  constructor({ indexes }: CollectionSettings) {
    this.#indexes = indexes.filter(({ special }) => special?.part === 'vectors');
  }

  nearest(wanted: NearestAsk['wanted'], vector: unknown, options: unknown): FindQuery {
    const { k, ...rest } = checkOptions(options ?? {}, nearestChecks, 'options');
    return this.#query({ wanted, vector, k: k as number, found: undefined }, rest);
  }

  hybrid(parseText: ParseSearch, text: unknown, vector: unknown, options: unknown): HybridQuery {
    const { limit, mode, prefix, fuzzy, ...rest } = checkOptions(
      options ?? {},
      hybridChecks,
      'options',
    );
    const { criteria, archived, signal } = rest;
    const k = limit as number;
    const asked = { criteria, archived, signal, mode, prefix, fuzzy };
    const most = { limit: Math.max(FUSED, k), select: { _id: 1 } };
    const query = this.#query({ wanted: 'hits', vector, k, found: [] }, rest);
    return {
      ...parseText('hits', text, { ...asked, ...most }),
      fused: (hits) => ({
        ...query,
        pipeline: { ...query.pipeline, found: hits.map(({ document }) => document._id) },
      }),
    };
  }

  #query(
    asked: Pick<NearestAsk, 'wanted' | 'k' | 'found'> & { readonly vector: unknown },
    { criteria, path, exact, ...rest }: Record<string, unknown>,
  ): FindQuery & { readonly pipeline: object } {
    const index = this.#indexOf(path as string | undefined);
    return indexQuery(
      index,
      criteria,
      rest,
      'options.criteria',
      (found): NearestAsk => ({
        ...{ ...asked, ...found, part: 'vectors' },
        vector: checkVector(asked.vector, index),
        exact: exact as boolean | undefined,
      }),
    );
  }

  /** @throws {OptionError} `option_missing`, `option_invalid` */
  #indexOf(path: string | undefined): IndexDefinition {
    const all = this.#indexes;
    const [first, second] = all;
    const paths = all.map(({ fields: [own] }) => `"${own}"`).join(' and ');
    if (!first) {
      const message =
        "A search by a vector needs an index: `indexes: [{ vector: 'embedding', dimensions: 384 }]`.";
      throw new OptionError('option_missing', message, { place: 'indexes' });
    }
    if (path === undefined) {
      if (!second) return first;
      const message = `The collection has vector indexes on ${paths}: say with "path" which one to search.`;
      throw new OptionError('option_missing', message, { place: 'options.path' });
    }
    const found = all.find(({ fields: [own] }) => own === path);
    if (found) return found;
    const message = `"options.path" is "${path}", where there is no vector index; there is one on ${paths}.`;
    throw new OptionError('option_invalid', message, { place: 'options.path' });
  }
}

/** @throws {ValueError} `vector_invalid` */
function checkVector(vector: unknown, { special }: IndexDefinition): Float32Array {
  const settings = special?.options as VectorSettings;
  const checked = vectorOf(vector, settings);
  if (typeof checked !== 'string') return checked;
  const { dimensions, path } = settings;
  throw new ValueError(
    'vector_invalid',
    `"vector" ${checked}. The index on "${path}" takes lists of ${dimensions} finite numbers.`,
    { place: 'vector' },
  );
}

/**
 * The query of a question to an index.
 *
 * @param options Those of any search.
 * @param place That of the criteria.
 * @throws {OptionError} `option_invalid` for a function
 */
export function indexQuery<A extends SearchAsk | NearestAsk>(
  index: IndexDefinition,
  criteria: unknown,
  options: Record<string, unknown>,
  place: string,
  make: (found: IndexAsk) => A,
): FindQuery & { readonly pipeline: A } {
  const search = checkSearch(criteria, options);
  if (typeof search.params === 'function')
    throw new OptionError(
      'option_invalid',
      '"criteria" must be criteria: functions cannot narrow a search. Filter its hits.',
      { place },
    );
  const { selection, ...query } = findQuery(search);
  const { criteria: checked = {}, archived, select, needs = [] } = selection;
  const pipeline = make({ index: keyName(index), criteria: checked, archived, select });
  const asked = { ...selection, select: undefined, needs: [pipeline.part, ...needs] };
  return { ...query, selection: asked, pipeline };
}
