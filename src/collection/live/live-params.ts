import type { Key } from '../../engine/protocol.ts';
import type { CollectionSettings } from '../../engine/settings.ts';
import { type Check, check, checkKnown, integer, number } from '../option-checks.ts';
import { archived, copyCriteria } from '../params.ts';
import type { Port } from '../port.ts';
import type { LiveSource } from './live-source.ts';

const atLeast0 = (value: number): boolean => value >= 0;
const places = integer('an integer of at least 0', atLeast0);

const countChecks: Record<string, Check> = {
  archived,
  where: { allowed: 'a function', test: (value) => typeof value === 'function' },
  throttle: number('milliseconds of at least 0', atLeast0),
};

const listChecks: Record<string, Check> = {
  ...countChecks,
  sort: {
    allowed: 'an object such as { age: 1, name: -1 }',
    test: (value) => typeof value === 'object' && value !== null,
  },
  skip: places,
  limit: places,
  select: { allowed: 'a list of paths', test: Array.isArray },
};

type Filter = LiveSource['filters'][number];

/** Options as they pass the checks. */
type Given = Partial<LiveSource> & { readonly where?: Filter };

type LiveOfDocuments = Pick<LiveSource, 'port' | 'settings'> & { kind: 'list' | 'count' };

/** @throws {OptionError} for an unknown option or a value that is not allowed; {CriteriaError} */
export function documentsSource(
  base: LiveOfDocuments,
  params: unknown,
  options: unknown = {},
): LiveSource {
  const checks = base.kind === 'list' ? listChecks : countChecks;
  const given = checkKnown(options, checks, 'options');
  for (const [option, test] of Object.entries(checks)) check(given, option, test);
  const isFunction = typeof params === 'function';
  // Copied: changing them later changes nothing.
  const { archived = false, sort, skip, limit, select, where, throttle = 0 } = given as Given;
  return {
    ...base,
    criteria: isFunction ? undefined : copyCriteria(params),
    filters: [isFunction ? (params as Filter) : undefined, where].filter((filter) => !!filter),
    archived,
    sort: sort && { ...sort },
    skip,
    limit,
    select: select && [...select],
    throttle,
  };
}

export function itemSource(port: Port, settings: CollectionSettings, key: Key): LiveSource {
  return { port, settings, kind: 'item', key, filters: [], archived: true, throttle: 0 };
}
