import { CollectionError, type LiveQuery } from 'cairndb';
import { useEffect, useState } from 'preact/hooks';

/** The last data of a live query, and its error. */
export interface LiveState<T> {
  readonly data: T | undefined;
  readonly error: Error | undefined;
}

/** The collection was dropped or is being reopened: a new live query follows. */
const isReplaced = (error: Error | undefined): boolean =>
  error instanceof CollectionError && ['closed', 'collection_dropped'].includes(error.code);

/** Reads a live query while the component is mounted. Data stays until newer data arrives. */
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
