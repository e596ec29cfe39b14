import type { valueKey } from '../value/value-key.ts';
import type { compileAccumulator } from './accumulators/compile-accumulator.ts';
import type { CompiledExpression, compileExpression } from './compile-expression.ts';
import type { Variables } from './operator.ts';

/** What aggregation takes of the part of expressions. */
interface Language {
  readonly compileExpression: typeof compileExpression;
  readonly compileAccumulator: typeof compileAccumulator;
  /** Compiles the expression of `$expr` to a test of documents. */
  readonly compileTest: (
    expression: unknown,
    place: string,
    now: number,
    variables?: Variables,
  ) => Pick<CompiledExpression, 'roots'> & { readonly test: (document: object) => boolean };
  readonly keyOf: typeof valueKey;
}

/** Of a request that has waited for the part. */
export let language: Language;

/** To be called by the part once it has loaded. */
export function provideLanguage(given: Language): void {
  language = given;
}
