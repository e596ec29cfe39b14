import { type } from 'arktype';
import { Schema } from 'effect';
import * as v from 'valibot';
import { z } from 'zod';
import type { StandardSchema } from '../../../src/index.ts';

export interface Person {
  name: string;
  age: number;
  tags?: string[] | undefined;
  address?: { city: string } | undefined;
}

export type NewPerson = Omit<Person, 'age'> & { age?: number | undefined };

/** Makes schemas of one library. */
export interface SchemaLibrary {
  readonly title: string;
  /** A name that is not empty, an age from 0 that is 18 by default. */
  readonly person: StandardSchema<NewPerson, Person>;
  /** Numbers from 0 by name. */
  readonly counts: StandardSchema<Record<string, number>>;
}

export const libraries: readonly SchemaLibrary[] = [
  {
    title: 'Zod',
    person: z.object({
      name: z.string().min(1),
      age: z.number().min(0).default(18),
      tags: z.array(z.string()).optional(),
      address: z.object({ city: z.string() }).optional(),
    }),
    counts: z.record(z.string(), z.number().min(0)),
  },
  {
    title: 'Valibot',
    person: v.object({
      name: v.pipe(v.string(), v.minLength(1)),
      age: v.optional(v.pipe(v.number(), v.minValue(0)), 18),
      tags: v.optional(v.array(v.string())),
      address: v.optional(v.object({ city: v.string() })),
    }),
    counts: v.record(v.string(), v.pipe(v.number(), v.minValue(0))),
  },
  {
    title: 'ArkType',
    person: type({
      name: 'string > 0',
      age: 'number >= 0 = 18',
      'tags?': 'string[]',
      'address?': { city: 'string' },
    }),
    counts: type({ '[string]': 'number >= 0' }),
  },
  {
    title: 'Effect Schema',
    person: Schema.standardSchemaV1(
      Schema.mutable(
        Schema.Struct({
          name: Schema.NonEmptyString,
          age: Schema.optionalWith(Schema.NonNegative, { default: () => 18 }),
          tags: Schema.optional(Schema.mutable(Schema.Array(Schema.String))),
          address: Schema.optional(Schema.Struct({ city: Schema.String })),
        }),
      ),
    ),
    counts: Schema.standardSchemaV1(
      Schema.Record({ key: Schema.String, value: Schema.NonNegative }),
    ),
  },
];

/** A schema of a function, which may be as wrong as it likes. */
export function schemaOf<T = unknown>(validate: (value: T) => unknown): StandardSchema<T> {
  const standard = { version: 1, vendor: 'test', validate };
  return { '~standard': standard } as unknown as StandardSchema<T>;
}
