import type { DocumentCollection } from '../../src/index.ts';
import type { testDatabase } from '../../src/testing/index.ts';

export type AnyCollection = DocumentCollection<Record<string, unknown>>;

export const NAMES = ['a', 'b', 'c'] as const;
export type Name = (typeof NAMES)[number];

/** A relation of a random schema. */
export interface Relation {
  readonly partner: Name;
  readonly isOne: boolean;
  readonly from: string;
  readonly to: string;
}

export type Schema = Record<Name, Record<string, Relation>>;

/** Opens the collections of a random schema, which name each other. */
export function relatedCollections(
  db: Awaited<ReturnType<typeof testDatabase>>,
  schema: Schema,
  options: { readonly caching?: boolean; readonly indexes: readonly string[] },
): Record<Name, AnyCollection> {
  const made = {} as Record<Name, AnyCollection>;
  for (const name of NAMES) {
    const own = Object.entries(schema[name]).map(([key, { partner, isOne, from, to }]) => {
      const open = () => made[partner];
      return [key, isOne ? { one: open, from, to } : { many: open, from, to }];
    });
    made[name] = new db.Collection({
      ...{ name, type: 'DOCUMENT_BASED', ...options },
      relations: Object.fromEntries(own) as never,
    }) as unknown as AnyCollection;
  }
  return made;
}
