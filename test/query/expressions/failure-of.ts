import { CriteriaError } from '../../../src/errors/errors.ts';

/** The error for criteria, or an expression, that are refused. */
export function failureOf(run: () => unknown): CriteriaError {
  try {
    run();
  } catch (error) {
    if (error instanceof CriteriaError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}
