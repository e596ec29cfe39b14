/**
 * Safe search by what users type.
 *
 * @packageDocumentation
 */
export { fold } from '../codec/fold-text.ts';
export {
  contains,
  searchWords,
  startsWith,
  type TextCriteria,
  type TextOptions,
  type WordCriteria,
  words,
} from './text-criteria.ts';
