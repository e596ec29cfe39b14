import { isPlainObject } from '../../codec/kinds.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import type { Metric, VectorSettings } from '../../query/vector/vector-of.ts';
import { type Check, checkOptions, integer, isIndexable, oneOf } from './option-checks.ts';

/** An index of the words of texts, for `search`; a collection has one at most. */
export interface TextIndexOption {
  /**
   * Dotted paths of strings, or of arrays of them, at most 16; or such paths with weights above 0.
   */
  text: string | readonly string[] | Readonly<Record<string, number>>;
  /** Words that are not searched for. @default none */
  stop_words?: readonly string[] | undefined;
  /** Lists of words that find each other, such as `[['car', 'automobile']]`. @default none */
  synonyms?: readonly (readonly string[])[] | undefined;
  /** Takes endings off words, so that `cats` finds `cat`. @default none */
  stemmer?: 'english' | undefined;
}

/** An index of vectors of numbers, such as embeddings, for `nearest`. */
export interface VectorIndexOption {
  /** The dotted path of a list of numbers, or a Float32Array; documents may lack it. */
  vector: string;
  /** How many numbers each vector has, at most 8,192. */
  dimensions: number;
  /** How near two vectors are: by the angle, the dot product, or the distance. @default 'cosine' */
  metric?: Metric | undefined;
}

/** The checked options of a text index, whose words are not folded yet. */
export interface TextSettings {
  /** Paths with their weights, by path. */
  readonly paths: readonly (readonly [path: string, weight: number])[];
  readonly stop_words: readonly string[];
  readonly synonyms: readonly (readonly string[])[];
  readonly stemmer: 'english' | undefined;
}

const list: Check = { allowed: 'a list', test: Array.isArray, fallback: [] };

const textChecks: Record<string, Check> = {
  text: {
    allowed: 'a list of 1 to 16 paths, or paths with weights above 0; `_id` is none',
    test(value) {
      const paths = weightsOf(value);
      return (
        new Set(paths.map(([path]) => path)).size === paths.length &&
        paths.length > 0 &&
        paths.length <= 16 &&
        paths.every(([path, weight]) => isIndexable(path) && Number.isFinite(weight) && weight > 0)
      );
    },
    required: true,
  },
  stop_words: list,
  synonyms: list,
  stemmer: oneOf(['english']),
};

const vectorChecks: Record<string, Check> = {
  vector: { allowed: 'a path such as "embedding"', test: isIndexable, required: true },
  dimensions: {
    ...integer(1, 8192),
    required: true,
  },
  metric: oneOf(['cosine', 'dot', 'euclidean'], 'cosine'),
};

function weightsOf(value: unknown): [path: string, weight: number][] {
  return isPlainObject(value)
    ? (Object.entries(value) as [string, number][])
    : [value].flat().map((path) => [path as string, 1]);
}

/**
 * Checks an index without an order.
 *
 * @throws {OptionError} with the place
 */
export function parseSpecialIndex(given: object, place: string): IndexDefinition {
  if ('vector' in given) return vectorIndex(given, place);
  const { text, ...rest } = checkOptions(given, textChecks, place, `${place}.`);
  const paths = weightsOf(text).sort();
  return {
    // One of fields has no such name.
    name: '(text)',
    fields: paths.map(([path]) => path),
    unique: false,
    multi: false,
    special: { part: 'search', options: JSON.parse(JSON.stringify({ paths, ...rest })) },
  };
}

function vectorIndex(given: object, place: string): IndexDefinition {
  const { vector, ...rest } = checkOptions(given, vectorChecks, place, `${place}.`);
  const path = vector as string;
  return {
    name: `${path} (vector)`,
    fields: [path],
    unique: false,
    multi: false,
    special: { part: 'vectors', options: { path, ...rest } as VectorSettings },
  };
}
