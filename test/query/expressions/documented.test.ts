import { describe, expect, test } from 'vitest';
import { CriteriaError } from '../../../src/errors/errors.ts';
import { compileExpression } from '../../../src/query/expressions/compile-expression.ts';
import { documentedBasics } from './documented-basics.ts';
import { REFUSED } from './documented-cases.ts';
import { documentedDates } from './documented-dates.ts';
import { documentedValues } from './documented-values.ts';

const DOCUMENTED = [documentedBasics, documentedDates, documentedValues];

describe.each(DOCUMENTED)('MongoDB documents', ({ document, cases }) => {
  test.each(Object.entries(cases))('%s', (operator, rows) => {
    for (const [expression, expected] of rows) {
      expect(Object.keys(expression as object), 'the operator of the case').toEqual([operator]);
      expect([expression, resultOf(expression, document)]).toEqual([expression, expected]);
    }
  });
});

function resultOf(expression: unknown, document: object): unknown {
  try {
    return compileExpression(expression, '$expr', { now: 0 }).evaluate(document);
  } catch (error) {
    if (error instanceof CriteriaError && error.place?.startsWith('$expr.')) return REFUSED;
    throw error;
  }
}
