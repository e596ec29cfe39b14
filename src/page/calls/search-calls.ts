import { type Check, checkOptions, flag, integer, oneOf } from '../../api/options/option-checks.ts';
import { OptionError } from '../../errors/errors.ts';
import type { SearchAsk } from '../../protocol/live-protocol.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import type { FindQuery, ParseSearch } from '../find/find-query.ts';
import { findChecks } from '../find/search.ts';
import { indexQuery, NearestParser } from './nearest-calls.ts';

/** Characters of a query at most. */
const LONGEST = 1000;

const { archived, select, signal } = findChecks;

const checks: Record<string, Check> = {
  limit: integer(1, 1000, 20),
  after: { allowed: 'a hit of this search, with its document and score', test: isHit },
  criteria: { allowed: '', test: () => true, fallback: {} },
  mode: oneOf(['all', 'any'], 'all'),
  prefix: { ...flag, fallback: true },
  fuzzy: flag,
  highlight: flag,
  ...{ archived, select, signal },
};

const wordChecks: Record<string, Check> = {
  limit: { ...(checks.limit as Check), fallback: 10 },
  signal,
};

function isHit(value: unknown): boolean {
  const { document, score } = (value ?? {}) as Record<string, unknown>;
  const { _id } = (document ?? {}) as Record<string, unknown>;
  return typeof _id === 'string' && Number.isFinite(score);
}

export function searchParser(settings: CollectionSettings): ParseSearch {
  const index = settings.indexes.find(({ special }) => special?.part === 'search');
  const vectors = new NearestParser(settings);
  const parse: ParseSearch = (wanted, given, options = {}) => {
    switch (wanted) {
      case 'nearest':
        return vectors.nearest('hits', given, options);
      case 'neighbours':
        return vectors.nearest('explanation', given, options);
      case 'hybrid':
        return vectors.hybrid(parse, ...(given as [unknown, unknown]), options);
      default:
        return textQuery(index, wanted, given, options);
    }
  };
  return parse;
}

function textQuery(
  index: IndexDefinition | undefined,
  wanted: SearchAsk['wanted'],
  text: unknown,
  options: unknown,
): FindQuery {
  if (!index) throw notDeclared();
  const known = wanted === 'words' ? wordChecks : checks;
  const { criteria, after, mode, prefix, fuzzy, highlight, limit, ...rest } = checkOptions(
    options,
    known,
    'options',
  );
  const ask = {
    ...{ part: 'search', wanted, text: checkText(text), limit, mode, prefix, fuzzy, highlight },
    after: after && idOf(after as HitLike),
  } as SearchAsk;
  return indexQuery(index, criteria ?? {}, rest, 'criteria', (found) => ({ ...ask, ...found }));
}

function notDeclared(): OptionError {
  const message = "A search needs a text index: `indexes: [{ text: ['title', 'body'] }]`.";
  return new OptionError('option_missing', message, { place: 'indexes' });
}

interface HitLike {
  readonly document: { readonly _id: string };
  readonly score: number;
}

function idOf({ document, score }: HitLike): SearchAsk['after'] {
  return { id: document._id, score };
}

/** @throws {OptionError} `option_invalid` */
function checkText(text: unknown): string {
  if (typeof text === 'string' && text.length <= LONGEST) return text;
  const message = `"text" must be a string of at most ${LONGEST} characters: what a user types.`;
  throw new OptionError('option_invalid', message, { place: 'text' });
}
