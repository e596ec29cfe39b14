import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runStages } from './run-stages.ts';

interface Case {
  readonly name: string;
  readonly documents?: readonly object[];
  /** Documents of the numbers below it. */
  readonly range?: number;
  readonly pipeline: readonly object[];
  readonly expected: readonly object[];
}

const FOLDER = new URL('./documented/', import.meta.url);

/** Cases of MongoDB's documentation, by stage; `{ $date }` is a date, as in its extended JSON. */
function casesOf(file: string): Case[] {
  return JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'), (_, value) =>
    typeof value?.$date === 'string' ? new Date(value.$date) : value,
  );
}

describe.each(readdirSync(FOLDER))('%s', (file) => {
  test.each(casesOf(file))('$name', ({ documents, range, pipeline, expected }) => {
    const given = documents ?? Array.from({ length: range as number }, (_, _id) => ({ _id }));
    const made = runStages(given, pipeline);
    expect(made).toEqual(expected);
    // The order of fields counts too.
    expect(JSON.stringify(made)).toBe(JSON.stringify(expected));
  });
});
