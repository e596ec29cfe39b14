import { isPlainObject } from '../../codec/kinds.ts';
import { OptionError } from '../../errors/errors.ts';
import { type IndexDefinition, indexName } from '../../query/index/index-definition.ts';
import { type Collation, parseCollation } from './collation.ts';
import { type Check, checkOptions, flag, isIndexable } from './option-checks.ts';
import {
  parseSpecialIndex,
  type TextIndexOption,
  type VectorIndexOption,
} from './special-indexes.ts';

/** An index in the option `indexes`: a dotted path, or an object. */
export type IndexOption =
  | string
  | TextIndexOption
  | VectorIndexOption
  | {
      /** Dotted paths in order of precedence; a single path needs no list. */
      fields: string | readonly string[];
      /**
       * Refuses a second document with the same key. Missing, null, RegExp and binary values take
       * no part.
       * @default false
       */
      unique?: boolean | undefined;
      /** Each item of an array is a key; only for an index of one field. @default false */
      multi?: boolean | undefined;
      /**
       * The order of its strings: it serves queries with the same collation alone. With a strength
       * of 2 a `unique` index ignores case. @default by code unit
       */
      collation?: Collation | undefined;
      /**
       * The documents that are in it: a partial index. Fields with strings, numbers, booleans and
       * null, compared by `$eq`, `$gt`, `$gte`, `$lt`, `$lte` and `$in`. It serves queries whose
       * criteria imply that. @default all documents
       */
      where?: Readonly<Record<string, unknown>> | undefined;
    };

export const indexList: Check = { allowed: 'a list of indexes', test: Array.isArray };

const checks = {
  fields: {
    allowed: 'a path such as "address.city", or a list of distinct paths; `_id` needs none',
    test: (value: unknown) => {
      const paths: unknown[] = [value].flat();
      return paths.length > 0 && new Set(paths).size === paths.length && paths.every(isIndexable);
    },
    required: true,
  },
  unique: flag,
  multi: flag,
  // Checked where it is read.
  collation: { allowed: '', test: () => true },
  where: {
    allowed: 'criteria such as { _archived: false }: fields with plain values, $gt, $lt or $in',
    test: isWhere,
  },
};

const comparisons: ReadonlySet<string> = new Set(['$eq', '$gt', '$gte', '$lt', '$lte', '$in']);

function isWhere(criteria: unknown): boolean {
  const isComparison = ([operator, operand]: [string, unknown]) =>
    comparisons.has(operator) &&
    (operator === '$in'
      ? Array.isArray(operand) && operand.every(isConstant)
      : isConstant(operand));
  const isField = ([path, value]: [string, unknown]) =>
    isIndexable(path) && path[0] !== '$' && (isConstant(value) || isFilled(value, isComparison));
  return isFilled(criteria, isField);
}

function isFilled(value: unknown, test: (entry: [string, unknown]) => boolean): boolean {
  const entries = isPlainObject(value) ? Object.entries(value) : [];
  return entries.length > 0 && entries.every(test);
}

/** What JSON keeps. */
function isConstant(value: unknown): boolean {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    Number.isFinite(value)
  );
}

/**
 * Checks the indexes of a list and fills in defaults. A unique index over the same fields replaces
 * a plain one.
 *
 * @throws {OptionError} with the place, such as `indexes[1].fields`.
 */
export function parseIndexes(list: readonly unknown[] = []): IndexDefinition[] {
  const parsed = new Map<string, IndexDefinition>();
  for (const [number, given] of list.entries()) {
    const place = `indexes[${number}]`;
    const index = parseIndex(given, place);
    const other = parsed.get(index.name);
    if (other && (other.unique === index.unique || other.multi !== index.multi)) {
      throw new OptionError('option_conflict', `"${place}" is declared twice.`, { place });
    }
    parsed.set(index.name, { ...index, unique: index.unique || other !== undefined });
  }
  return [...parsed.values()];
}

function parseIndex(given: unknown, place: string): IndexDefinition {
  if (isPlainObject(given) && ('text' in given || 'vector' in given))
    return parseSpecialIndex(given, place);
  const options = typeof given === 'string' ? { fields: given } : given;
  const { unique, multi, ...own } = checkOptions(options, checks, place, `${place}.`);
  const fields = [own.fields].flat() as string[];
  if (multi && fields.length > 1) {
    const message = `"${place}.multi" is for a single field.`;
    throw new OptionError('option_conflict', message, { place: `${place}.multi` });
  }
  const where = own.where
    ? (JSON.parse(JSON.stringify(own.where)) as IndexDefinition['where'])
    : undefined;
  const collation = parseCollation(own.collation, `${place}.collation`);
  return {
    name: indexName(fields, { collation, where }),
    fields,
    unique: unique as boolean,
    multi: multi as boolean,
    ...(collation && { collation }),
    ...(where && { where }),
  };
}
