/**
 * Safe search by what users type.
 *
 * @packageDocumentation
 */
export { fold, words } from './fold.ts';
export {
  contains,
  searchWords,
  startsWith,
  type TextCriteria,
  type TextOptions,
  type WordCriteria,
} from './text-criteria.ts';
