import { CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { describe, expect, test } from 'vitest';
import { criteriaCompletions } from '../../demo/panels/query/editor/completions.ts';
import { criteriaLanguage } from '../../demo/panels/query/editor/language.ts';
import { EXPRESSIONS, FIELD_OPERATORS } from '../../demo/panels/query/editor/operators.ts';
import { Database } from '../../src/database.ts';
import { fieldOperators } from '../../src/query/criteria/operators/field-operators.ts';

const complete = criteriaCompletions(() => ['name', 'location.latitude']);

/** What is offered at the end of a text. */
async function offered(text: string): Promise<string[]> {
  const state = EditorState.create({ doc: text, extensions: [criteriaLanguage] });
  const found = await complete(new CompletionContext(state, text.length, false));
  return ((found as CompletionResult | null)?.options ?? []).map(({ label }) => label);
}

describe('the editor completes', () => {
  test.each<[text: string, has: string, lacks: string]>([
    ['{ n', 'name', '$gt'],
    ['{ $', '$expr', '$gt'],
    ['{ a: { $b', '$bitsAllSet', '$or'],
    ['{ $or: [{ a: { $b', '$bitsAnyClear', 'name'],
    ['{ a: { $not: { $e', '$elemMatch', 'name'],
    ['{ a: { $elemMatch: { n', 'name', '$gt'],
    ['{ $expr: { $m', '$multiply', '$bitsAllSet'],
    ['{ $expr: { $gt: ["$a", { $m', '$multiply', 'name'],
    ['[{ $match: { a: { $b', '$bitsAllSet', '$multiply'],
    ['[{ $set: { a: { $m', '$multiply', '$bitsAllSet'],
    ['[{ $project: { a: { $c', '$cond', '$group'],
    ['[{ $set: { n', 'name', '$multiply'],
  ])('%s by %s, not by %s', async (text, has, lacks) => {
    const labels = await offered(text);
    expect(labels).toContain(has);
    expect(labels).not.toContain(lacks);
  });
});

test('it knows each operator of criteria, and offers no expression that is none', async () => {
  const known = [...fieldOperators.keys()].filter((name) => name !== '$options');
  expect(known.filter((name) => !(name in FIELD_OPERATORS))).toEqual([]);
  const db = new Database({ name: 'operators', storage: 'memory' });
  const things = new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  for (const name of Object.keys(EXPRESSIONS)) {
    const error = await things.filter({ $expr: { [name]: ['$a', 1] } }).catch((cause) => cause);
    expect(error.code, name).not.toBe('operator_unknown');
  }
  await db.close();
});
