import { CollectionError, type LiveQuery } from 'cairndb';
import { useEffect, useState } from 'preact/hooks';

/** What a live query shows: the last data there was, and what went wrong. */
export interface LiveState<T> {
  readonly data: T | undefined;
  readonly error: Error | undefined;
}

/** The collection was dropped, or closed to be opened anew: another live query follows at once. */
const isReplaced = (error: Error | undefined): boolean =>
  error instanceof CollectionError && ['closed', 'collection_dropped'].includes(error.code);

/** Reads a live query for as long as the component is shown. Data stays until there is other data. */
export function useLive<T>(query: LiveQuery<T> | undefined): LiveState<T> {
  const [state, setState] = useState<LiveState<T>>({ data: undefined, error: undefined });
  useEffect(
    () =>
      query?.subscribe(({ status, data, error }) => {
        if (status === 'ready' || (error && !isReplaced(error))) setState({ data, error });
      }),
    [query],
  );
  return state;
}
