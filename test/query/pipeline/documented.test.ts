import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { PipelineStage } from '../../../src/index.ts';
import { testDatabase } from '../../../src/testing/index.ts';
import { failureOf } from '../expressions/failure-of.ts';
import { runStages } from './run-stages.ts';

interface Case {
  readonly name: string;
  readonly documents?: readonly object[];
  /** Documents of the numbers below it. */
  readonly range?: number;
  readonly pipeline: readonly object[];
  /** Of other collections, by name. */
  readonly others?: Readonly<Record<string, readonly object[]>>;
  readonly expected: readonly object[];
}

const FOLDER = new URL('./documented/', import.meta.url);

/** Cases of MongoDB's documentation, by stage; `{ $date }` is a date, as in its extended JSON. */
function casesOf(file: string): Case[] {
  return JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'), (_, value) =>
    typeof value?.$date === 'string' ? new Date(value.$date) : value,
  );
}

/** What a pipeline makes of stored documents, without their managed fields. */
async function madeOf({ documents = [], others = {}, pipeline }: Case): Promise<object[]> {
  const db = testDatabase();
  const open = async (name: string, all: readonly object[]) => {
    const made = new db.Collection({ name, type: 'DOCUMENT_BASED' });
    await made.insertMany(all as never);
    return made;
  };
  const own = await open('own', documents);
  for (const [name, all] of Object.entries(others)) await open(name, all);
  const made = await own.aggregate(pipeline as readonly PipelineStage[]);
  return JSON.parse(JSON.stringify(made), (key, value) =>
    key === '_updated' || key === '_archived' ? undefined : value,
  );
}

describe.each(readdirSync(FOLDER))('%s', (file) => {
  test.each(casesOf(file))('$name', async (one) => {
    const { documents, range, pipeline, expected } = one;
    const given = documents ?? Array.from({ length: range as number }, (_, _id) => ({ _id }));
    const made = one.others ? await madeOf(one) : runStages(given, pipeline);
    expect(made).toEqual(expected);
    // The order of fields counts too.
    expect(JSON.stringify(made)).toBe(JSON.stringify(expected));
  });
});

test.each([
  ['stages', [{ $nothing: 1 }]],
  ['accumulators', [{ $group: { _id: 0, n: { $nothing: 1 } } }]],
])('all %s are among them', (_, pipeline) => {
  const known = readdirSync(FOLDER).map((file) => readFileSync(new URL(file, FOLDER), 'utf8'));
  const { message } = failureOf(() => runStages([], pipeline));
  const names = message.slice(message.indexOf('Allowed here')).match(/\$\w+/g) ?? [];
  expect(names.length).toBeGreaterThan(19);
  expect(names.filter((name) => !known.some((text) => text.includes(`"${name}"`)))).toEqual([]);
});
