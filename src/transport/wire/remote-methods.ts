import { type Endpoint, type Remote, releaseProxy, wrap } from 'comlink';
import type { SessionApi } from './session-api.ts';

/** The methods of a remote, and what ends their use. */
export type RemoteMethods<Api, Name extends keyof Api> = Pick<
  Remote<Api>,
  Name & keyof Remote<Api>
> & {
  /** Must be called when no method is called any more. */
  release(): void;
};

/** A session in another thread or tab. */
export type RemoteSession = RemoteMethods<SessionApi, keyof SessionApi>;

export const SESSION_METHODS = ['replay', 'execute', 'watch', 'save', 'leave', 'ping'] as const;

/**
 * The methods that the other end exposes. Comlink makes a proxy at each access to one, with a finalizer, and Chromium
 * evicts a page from the back/forward cache for a finalizer that runs, which the garbage of the next page of the site
 * brings about. So each method has one proxy, which is released.
 */
export function remoteMethods<Api, Name extends keyof Api & string>(
  endpoint: Endpoint,
  names: readonly Name[],
): RemoteMethods<Api, Name> {
  type Releasable = { [releaseProxy](): void };
  const remote = wrap(endpoint) as unknown as Releasable & Record<string, Releasable>;
  const methods: Record<string, unknown> = {};
  for (const name of names) methods[name] = remote[name];
  const proxies = [remote, ...Object.values(methods)] as Releasable[];
  methods.release = () => {
    // As of an ended worker: callers have stopped to wait, or race with its end.
    for (const name of names) methods[name] = () => new Promise(() => undefined);
    for (const proxy of proxies.splice(0)) proxy[releaseProxy]();
  };
  return methods as unknown as RemoteMethods<Api, Name>;
}
