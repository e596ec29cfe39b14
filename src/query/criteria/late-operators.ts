import type { CompileExpression } from './compile-criteria.ts';
import { addFieldOperators } from './operators/field-operators.ts';
import type { Operator } from './operators/operator.ts';

/** What few queries use, and loads with the first: a part. */
interface LateOperators {
  /** Compiles `$expr`, at the time of the query. */
  readonly expression: (
    ...given: [
      ...Parameters<CompileExpression>,
      settings: { readonly now: number; readonly collation: string | undefined },
    ]
  ) => ReturnType<CompileExpression>;
  /** Compiles an object of `select`. @throws {CriteriaError} `select_invalid` */
  readonly select: (
    choices: object,
    isManaged: (path: string) => boolean,
    collation: string | undefined,
  ) => (document: object) => object;
  readonly fields: Readonly<Record<string, Operator>>;
  /** What aggregation takes of the part; it knows the type. */
  readonly language: object;
}

/** Of a request that has waited for their part. */
export let lateOperators: LateOperators | undefined;

/** A function: another file would keep the first value of what is exported. */
export function loadedLanguage(): unknown {
  return lateOperators?.language;
}

/** To be called by the part once it has loaded. */
export function provideOperators(given: LateOperators): void {
  lateOperators = given;
  addFieldOperators(given.fields);
}

/** Compilers of stages whose code is a part, which knows their types, by name. */
export const lateStages = new Map<string, unknown>();
