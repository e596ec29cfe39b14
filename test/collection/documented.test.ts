import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { IndexOption } from '../../src/index.ts';
import { testDatabase } from '../../src/testing/index.ts';

type Fields = Record<string, unknown>;

interface Step {
  /** A method of the collection, and its arguments. */
  readonly call: readonly [method: string, ...unknown[]];
  /** What it resolves with. */
  readonly result?: unknown;
  /** Of `explain`: the index, or the kind of a plan without one. */
  readonly plan?: string;
  /** The code that it rejects with. */
  readonly refused?: string;
  /** The documents of the collection afterwards. */
  readonly after?: readonly Fields[];
}

interface Case {
  /** What MongoDB documents. */
  readonly name: string;
  readonly indexes?: readonly IndexOption[];
  readonly documents: readonly Fields[];
  readonly steps: readonly Step[];
}

const FOLDER = new URL('./documented/', import.meta.url);

/** Cases by a page of MongoDB's manual, in its extended JSON: `{ $binary }` holds base64. */
const casesOf = (file: string): Case[] =>
  JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'), (_, value) =>
    typeof value?.$binary === 'string'
      ? Uint8Array.from(Buffer.from(value.$binary, 'base64'))
      : value,
  );

describe.each(readdirSync(FOLDER))('%s', (file) => {
  test.each(casesOf(file))('$name', async ({ indexes = [], documents, steps }) => {
    const db = testDatabase();
    const things = new db.Collection<Fields>({ name: 'things', type: 'DOCUMENT_BASED', indexes });
    await things.insertMany(documents);
    for (const { call, plan, ...expected } of steps) {
      const [method, ...parameters] = call;
      const before = await things.filter({});
      const seen = await outcome(() => (things as any)[method](...parameters));
      if (plan) expect([call, planOf(seen.result)]).toEqual([call, plan]);
      const { after, ...told } = expected;
      const left = await things.filter({});
      if ('result' in told)
        expect([call, own(seen.result, told.result)]).toEqual([call, told.result]);
      expect([call, seen.refused]).toEqual([call, told.refused]);
      if (told.refused) expect(left).toEqual(before);
      if (after) expect(own(left, after)).toEqual(after);
    }
  });
});

async function outcome(
  run: () => Promise<unknown>,
): Promise<{ result?: unknown; refused?: string }> {
  try {
    return { result: await run() };
  } catch (error) {
    const { code } = error as { code?: string };
    if (!code) throw error;
    return { refused: code };
  }
}

const planOf = (explained: any): string => explained.plan.index ?? explained.plan.kind;

/** Without managed fields, and without an `_id` that is given out. */
function own(seen: unknown, expected: unknown): unknown {
  if (Array.isArray(seen))
    return seen.map((one, at) => own(one, Array.isArray(expected) ? expected[at] : undefined));
  // JSON has no `undefined`.
  if (typeof seen !== 'object' || seen === null) return seen ?? null;
  const { _updated, _archived, ...fields } = seen as Fields;
  if (typeof expected === 'object' && expected && !('_id' in expected)) delete fields._id;
  return fields;
}
