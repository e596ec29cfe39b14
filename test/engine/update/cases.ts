import '../../setup/rare-operators.ts';
import { describe, expect, test } from 'vitest';
import { peek } from '../../../src/codec/body.ts';
import { deepFreeze } from '../../../src/codec/deep-freeze.ts';
import { sameValue } from '../../../src/codec/same-value.ts';
import { type CompiledPatch, compilePatch } from '../../../src/engine/update/patches.ts';
import { CairnError, CriteriaError, KeyError, ValueError } from '../../../src/errors/errors.ts';
import { encodeChanges } from '../../../src/page/calls/check-update.ts';
import type { UpdateSource } from '../../../src/query/update/update-operator.ts';

/** The time of every update here. */
export const NOW = Date.UTC(2024, 1, 29, 12);

const classes = {
  update_invalid: ValueError,
  key_forbidden: ValueError,
  key_invalid: KeyError,
  paths_conflict: KeyError,
  kind_mismatch: KeyError,
  criteria_invalid: CriteriaError,
  operand_invalid: CriteriaError,
  operator_unknown: CriteriaError,
  sort_invalid: CriteriaError,
};

type Code = keyof typeof classes;

class Refusal {
  readonly code: Code;
  readonly place: string;

  constructor(code: Code, place: string) {
    this.code = code;
    this.place = place;
  }
}

/** In place of the document after: the document refuses the update. */
export function refused(code: 'key_invalid' | 'kind_mismatch', place: string): Refusal {
  return new Refusal(code, place);
}

/** A document before and after the changes. */
export type Row = readonly [
  title: string,
  before: object,
  changes: object,
  after: object | Refusal,
];

/** One test a row. Values are compared with the order of their keys, and -0 differs from 0. */
export function updateTable(subject: string, rows: readonly Row[]): void {
  describe(subject, () => {
    for (const [title, before, changes, after] of rows) {
      test(title, () => {
        const given = structuredClone(changes);
        deepFreeze(changes);
        const update = compile(changes);
        const fields = structuredClone(before);
        if (after instanceof Refusal) {
          expectRefusal(() => update.apply(fields, NOW), after);
        } else {
          expect(update.apply(fields, NOW)).toBe(fields);
          expectSame(fields, after);
        }
        expectSame(changes, given);
      });
    }
  });
}

/** Changes that no document can have; the part of the message is what it must name. */
export type RefusalRow = readonly [changes: unknown, code: Code, place: string, named?: string];

/** One test a row: the changes are refused before they meet a document. */
export function refusalTable(subject: string, rows: readonly RefusalRow[]): void {
  describe(subject, () => {
    for (const [changes, code, place, named = ''] of rows) {
      test(`${shown(changes)}: ${code} at ${place}`, () => {
        const error = expectRefusal(() => compile(changes), new Refusal(code, place));
        expect(error.message).toContain(named);
      });
    }
  });
}

/** A copy of the document after the changes. */
export function updated(before: object, changes: object): object {
  return compile(changes).apply(structuredClone(before), NOW);
}

/** Deep equality; `toEqual` is first, for its message. */
export function expectSame(actual: unknown, expected: unknown): void {
  expect(actual).toEqual(expected);
  expect(sameValue(actual, expected), `${shown(actual)}, expected ${shown(expected)}`).toBe(true);
}

function expectRefusal(run: () => unknown, { code, place }: Refusal): CairnError {
  try {
    expect.unreachable(`It was accepted: ${shown(run())}`);
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    expect({ code: error.code, place: error.place }).toEqual({ code, place });
    expect(error).toBeInstanceOf(classes[code]);
    return error;
  }
}

/** A value for titles and messages. */
export function shown(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => asText(item)) ?? String(value);
}

function asText(item: unknown): unknown {
  if (typeof item === 'bigint') return `${item}n`;
  if (item instanceof RegExp || item === undefined || typeof item === 'function') return `${item}`;
  if (typeof item !== 'number') return item;
  return Object.is(item, -0) || !Number.isFinite(item)
    ? `${Object.is(item, -0) ? '-0' : item}`
    : item;
}

/** As a client checks and an engine compiles changes. */
export function compile(
  changes: unknown,
  {
    array_filters,
    ...source
  }: Omit<UpdateSource, 'filters'> & {
    readonly array_filters?: readonly object[];
  } = {},
): CompiledPatch {
  const { changes: body, filters } = encodeChanges(changes, { array_filters });
  return compilePatch(peek(body) as object, false, { filters, ...source });
}

/** Rows of one array, an operator's operand for it, and the array after. */
export function arrayRows(
  operator: string,
  rows: readonly (readonly [
    title: string,
    before: unknown[],
    operand: unknown,
    after: unknown[],
  ])[],
): Row[] {
  return rows.map(([title, before, operand, after]) => [
    title,
    { a: before, z: 1 },
    { [operator]: { a: operand } },
    { a: after, z: 1 },
  ]);
}

export const NOT_ARRAYS: readonly unknown[] = [
  ...['text', 5, null, true, new Date(0)],
  ...[{ 0: 1 }, {}, new Set([1]), new Uint8Array(1)],
];
