import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { keep, noteShown, type Shown, type Source, withData } from '../core/hook-result.ts';
import { subscribedCode } from '../core/subscribed-code.ts';

/** So many results in a row, each with another query in the same render, are an endless loop. */
const MOST_CHANGES = 20;

/**
 * Reads a source; of equal ones, that of the first render.
 *
 * @param serverView What a server renders, and the browser while it hydrates that.
 */
export function useSource<R extends object>(
  fresh: Source<R>,
  serverView: (source: Source<R>) => R = ({ start }) => start,
): R {
  const last = useRef({
    source: fresh,
    changes: 0,
    isTold: false,
    shown: undefined as Shown | undefined,
  });
  // Not useMemo, which fast refresh resets: what is typed in a draft would be lost.
  const source = keep(last.current.source, fresh);
  const subscribe = useCallback(
    (listener: () => void) =>
      source.subscribe(() => {
        last.current.isTold = true;
        listener();
      }),
    [source],
  );
  const result = useSyncExternalStore(subscribe, source.view, () => serverView(source));
  // Written after the commit: a render may be repeated, or thrown away.
  useEffect(() => {
    const { source: before, shown, isTold, changes } = last.current;
    last.current = {
      source,
      changes: source === before ? 0 : changes + +isTold,
      isTold: false,
      shown: noteShown(source, result, shown),
    };
    const code = subscribedCode();
    if (code && changes > MOST_CHANGES) throw code.otherQuery();
  }, [source, result]);
  return useMemo(() => withData(result, source, last.current.shown), [source, result]);
}
