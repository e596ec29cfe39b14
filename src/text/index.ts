/**
 * Safe search by what users type.
 *
 * @packageDocumentation
 */
export {
  contains,
  fold,
  searchWords,
  startsWith,
  type TextCriteria,
  type TextOptions,
  type WordCriteria,
  words,
} from './text-criteria.ts';
