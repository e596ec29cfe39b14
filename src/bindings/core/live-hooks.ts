import type { PipelineStage } from '../../api/aggregate-types.ts';
import type { Found, IdOf, Params, SelectOption, Stamp } from '../../api/document-types.ts';
import type { IncludeOption } from '../../api/relation-types.ts';
import type { SearchHit } from '../../api/search-types.ts';
import type { KeyValueCollection } from '../../page/collections/key-value-collection.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { DraftResult } from './draft.ts';
import type {
  AggregateQueryOptions,
  CountOptions,
  DocumentOptions,
  GivenParams,
  LivePages,
  LiveResult,
  Maybe,
  PagesOptions,
  QueryOptions,
  SearchQueryOptions,
  ShownCollection,
  Source,
  Unnamed,
} from './hook-result.ts';
import {
  aggregateSource,
  countSource,
  documentSource,
  draftSource,
  pagesSource,
  querySource,
  searchSource,
  type Totals,
  valueSource,
} from './sources.ts';

/**
 * The types of a framework whose state tells who reads it, each of `this['value']`: TypeScript has
 * no parameter for a type that takes one.
 */
export interface Framework {
  readonly value: unknown;
  /** What a hook is given: a value, or what reads it. */
  readonly given: unknown;
  /** What else than a function reads criteria. */
  readonly ref: unknown;
  /** What a hook returns: the fields of a result. */
  readonly shown: unknown;
}

type Given<F extends Framework, V> = (F & { value: V })['given'];

type CollectionOf<F extends Framework, T extends object, S extends Stamp> = Given<
  F,
  Maybe<ShownCollection<T, S>>
>;

/**
 * The hooks that such frameworks have in common. Results have no alias, which documentation would
 * name in their place.
 */
export interface LiveHooks<F extends Framework> {
  LiveQuery<
    T extends object,
    S extends Stamp,
    P extends Params<T, S>,
    const L extends SelectOption<T, S> = undefined,
    const N extends IncludeOption<S> = undefined,
  >(
    collection: CollectionOf<F, T, S>,
    params: GivenParams<T, S, P> | (F & { value: Params<T, S> })['ref'],
    options?: Given<F, QueryOptions<T, S, L, N> | undefined>,
  ): (F & { value: LiveResult<readonly Found<T, S, L, N>[]> })['shown'];

  LiveDocument<T extends object, S extends Stamp, const N extends IncludeOption<S> = undefined>(
    collection: CollectionOf<F, T, S>,
    id: Given<F, Maybe<IdOf<T>>>,
    options?: Given<F, DocumentOptions<N> | undefined>,
  ): (F & { value: LiveResult<Found<T, S, undefined, N> | undefined> })['shown'];

  LiveCount<T extends object, S extends Stamp, P extends Params<T, S>>(
    collection: CollectionOf<F, T, S>,
    params?: GivenParams<T, S, P> | (F & { value: Params<T, S> })['ref'],
    options?: Given<F, CountOptions<T, S> | undefined>,
  ): (F & { value: LiveResult<number> })['shown'];

  LiveAggregate<
    R extends object | undefined = undefined,
    T extends object = Unnamed,
    S extends Stamp = Unnamed,
    const P extends readonly PipelineStage[] = readonly PipelineStage[],
  >(
    collection: CollectionOf<F, T, S>,
    pipeline: Given<F, P>,
    options?: Given<F, AggregateQueryOptions<Totals<T, S, P, R>> | undefined>,
  ): (F & { value: LiveResult<readonly Totals<T, S, P, R>[]> })['shown'];

  LiveSearch<T extends object, S extends Stamp, const L extends SelectOption<T, S> = undefined>(
    collection: CollectionOf<F, T, S>,
    text: Given<F, Maybe<string>>,
    options?: Given<F, SearchQueryOptions<T, S, L> | undefined>,
  ): (F & { value: LiveResult<readonly SearchHit<Found<T, S, L>>[]> })['shown'];

  LiveValue<V>(
    collection: Given<F, Maybe<KeyValueCollection<V>>>,
    key: Given<F, Maybe<Key>>,
  ): (F & { value: LiveResult<V | undefined> })['shown'];

  LivePages<
    T extends object,
    S extends Stamp,
    P extends Params<T, S>,
    const L extends SelectOption<T, S> = undefined,
    const N extends IncludeOption<S> = undefined,
  >(
    collection: CollectionOf<F, T, S>,
    params: GivenParams<T, S, P> | (F & { value: Params<T, S> })['ref'],
    options?: Given<F, PagesOptions<T, S, L, N> | undefined>,
  ): (F & { value: LivePages<Found<T, S, L, N>> })['shown'];

  Draft<T extends object, S extends Stamp>(
    collection: CollectionOf<F, T, S>,
    id: Given<F, Maybe<IdOf<T>>>,
  ): (F & { value: DraftResult<T, S> })['shown'];
}

/** By the name of the hook, without its prefix. */
const SOURCES: Record<keyof LiveHooks<Framework>, (...args: never[]) => Source<object>> = {
  LiveQuery: querySource,
  LiveDocument: documentSource,
  LiveCount: countSource,
  LiveAggregate: aggregateSource,
  LiveSearch: searchSource,
  LiveValue: valueSource,
  LivePages: pagesSource,
  Draft: draftSource,
};

const called = (given: unknown): unknown => (typeof given === 'function' ? given() : given);

/**
 * Makes the hooks of a framework.
 *
 * @param prefix Of their names.
 * @param show Shows a source, until what calls the hook ends. `make` reads the arguments.
 * @param read Reads an argument. @default calls what is a function
 * @param readCollection Reads the first one, if it is otherwise.
 */
export function liveHooks<F extends Framework>(
  prefix: 'use' | 'inject',
  show: (make: () => Source<object>, name: string) => unknown,
  read: (given: never) => unknown = called,
  readCollection = read,
): LiveHooks<F> {
  const hooks = Object.entries(SOURCES).map(([name, source]) => [
    name,
    (collection: never, ...args: never[]) =>
      show(
        () =>
          source(...([prefix + name, readCollection(collection), ...args.map(read)] as never[])),
        name,
      ),
  ]);
  return Object.fromEntries(hooks) as LiveHooks<F>;
}
