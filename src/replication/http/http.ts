import { checkOptions } from '../../collection/options/option-checks.ts';
import { systemClock } from '../../engine/scheduling/clock.ts';
import { type FetchingOptions, fetchingChecks, parseUrl } from '../fetching/remote-options.ts';
import type { Remote } from '../protocol/remote.ts';
import { HttpRemote } from './http-remote.ts';

/** Options of {@link http}; `url` is that of one collection, such as `https://example.com/sync/orders`. */
export type HttpOptions = FetchingOptions;

/**
 * A server that speaks the protocol of `cairndb/server`.
 *
 * @throws {OptionError} with the invalid option.
 *
 * @example
 * ```ts
 * const sync = replicate(orders, {
 *   remote: http({
 *     url: 'https://example.com/sync/orders',
 *     headers: async () => ({ authorization: `Bearer ${await token()}` }),
 *   }),
 * });
 * ```
 *
 * @example A handler in the same process, for tests and demos.
 * ```ts
 * const handler = createHandler({ store: memory(), authorize: () => true });
 * const remote = http({
 *   url: 'https://localhost/sync/orders',
 *   fetch: (url, init) => handler(new Request(url, init)),
 * });
 * ```
 */
export function http(options: HttpOptions): Remote<string> {
  const given = checkOptions(options, fetchingChecks, 'http(options)') as unknown as HttpOptions;
  const { url, headers = {}, fetch } = given;
  return new HttpRemote({ url: parseUrl(url), headers, fetch }, systemClock);
}
