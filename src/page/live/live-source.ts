import type { HandleSettings } from '../../api/options/collection-options.ts';
import { type Check, checkOptions, milliseconds } from '../../api/options/option-checks.ts';
import { nameCollection } from '../../errors/errors.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import { checkSearch, findChecks } from '../find/search.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import type { Search } from '../sending/observed-call.ts';

const { after, signal, ...list } = findChecks;
const { sort, skip, limit, select, ...count } = list;

/** The definition of a live query, with its options checked. */
export interface LiveSource {
  /** The handle's channel, once the runtime is loaded, after all earlier calls. */
  readonly channel: () => Promise<HandleChannel>;
  readonly settings: CollectionSettings & Pick<HandleSettings, 'relations'>;
  /** A document's id or a key, for a query of one value. */
  readonly key?: Key;
  /** The arguments of any other query. */
  readonly search?: Search;
  /** Given for a query whose options select no documents; whether their count is the data. */
  readonly count?: boolean;
  /** The stages of an aggregation. */
  readonly pipeline?: unknown;
  /** The arguments of a search. */
  readonly asked?: readonly [text: unknown, options: unknown];
  /** The option `include`. */
  readonly include?: unknown;
  /** Milliseconds. */
  readonly throttle: number;
}

/** @throws {OptionError} for an unknown option or an invalid value; {CriteriaError} */
export function documentsSource(
  base: Pick<LiveSource, 'channel' | 'settings' | 'count'>,
  params: unknown,
  options: unknown = {},
): LiveSource {
  const known: Record<string, Check> = {
    ...('count' in base ? count : list),
    throttle: { ...milliseconds, fallback: 0 },
  };
  // Any value: it is checked where its code is.
  if (base.settings.relations) known.include = sort;
  const { throttle, include, ...rest } = checkOptions(options, known, 'options');
  try {
    return { ...base, include, search: checkSearch(params, rest), throttle: throttle as number };
  } catch (error) {
    throw nameCollection(error, base.settings.name);
  }
}
