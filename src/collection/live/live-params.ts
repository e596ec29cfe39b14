import { nameCollection } from '../../errors/criteria-error.ts';
import { checkSearch, findChecks } from '../find/search.ts';
import { checkOptions, milliseconds } from '../options/option-checks.ts';
import type { LiveSource } from './live-source.ts';

const { after, signal, ...list } = findChecks;
const { sort, skip, limit, select, ...count } = list;

/** @throws {OptionError} for an unknown option or an invalid value; {CriteriaError} */
export function documentsSource(
  base: Pick<LiveSource, 'channel' | 'settings' | 'count'>,
  params: unknown,
  options: unknown = {},
): LiveSource {
  const known = { ...(base.count ? count : list), throttle: { ...milliseconds, fallback: 0 } };
  const { throttle, ...rest } = checkOptions(options, known, 'options');
  try {
    return { ...base, search: checkSearch(params, rest), throttle: throttle as number };
  } catch (error) {
    throw nameCollection(error, base.settings.name);
  }
}
