import { OptionError } from '../errors/option-error.ts';
import type { IndexDefinition } from '../query/index/definition.ts';
import { type Check, check, checkKnown, flag } from './option-checks.ts';

/** An index as the option `indexes` takes it: a dotted path, or an object. */
export type IndexOption =
  | string
  | {
      /** Dotted paths, the one that counts most first; one alone needs no list. */
      fields: string | readonly string[];
      /** No two documents may have the same key; a missing or null field takes no part. @default false */
      unique?: boolean | undefined;
      /** Every item of an array is a key; for one field. @default false */
      multi?: boolean | undefined;
    };

const list: Check = { allowed: 'a list of indexes', test: Array.isArray };
const paths: Check = {
  allowed: 'a path such as "address.city", or a list of different ones; `_id` needs no index',
  test: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    new Set(value).size === value.length &&
    value.every(
      (path: unknown) =>
        typeof path === 'string' &&
        !path
          .split('.')
          .some((key, level) => !key || key === '__proto__' || (key === '_id' && level === 0)),
    ),
};

/**
 * Checks the option `indexes` and completes it. One index stands for a unique and a plain one over the same
 * fields.
 *
 * @throws {OptionError} naming the place, such as `indexes[1].fields`.
 */
export function parseIndexes(option: unknown): IndexDefinition[] {
  check({ indexes: option }, 'indexes', list);
  const parsed = new Map<string, IndexDefinition>();
  for (const [number, given] of ((option ?? []) as unknown[]).entries()) {
    const place = `indexes[${number}]`;
    const index = parseIndex(given, place);
    const other = parsed.get(index.name);
    if (other && (other.unique === index.unique || other.multi !== index.multi)) {
      throw new OptionError('option_conflict', `"${place}" is declared already; leave one out.`, {
        place,
      });
    }
    parsed.set(index.name, { ...index, unique: index.unique || (other?.unique ?? false) });
  }
  return [...parsed.values()];
}

function parseIndex(given: unknown, place: string): IndexDefinition {
  const options =
    typeof given === 'string'
      ? { fields: given }
      : checkKnown(given, { fields: 0, unique: 0, multi: 0 }, place);
  const fields = typeof options.fields === 'string' ? [options.fields] : options.fields;
  const { unique = false, multi = false } = options;
  const checked = {
    [`${place}.fields`]: fields,
    [`${place}.unique`]: unique,
    [`${place}.multi`]: multi,
  };
  check(checked, `${place}.fields`, paths, true);
  check(checked, `${place}.unique`, flag);
  check(checked, `${place}.multi`, flag);
  const names = fields as readonly string[];
  if (multi && names.length > 1) {
    const message = `"${place}.multi" is for an index of one field.`;
    throw new OptionError('option_conflict', message, { place: `${place}.multi` });
  }
  return {
    name: names.join(),
    fields: [...names],
    unique: unique as boolean,
    multi: multi as boolean,
  };
}
