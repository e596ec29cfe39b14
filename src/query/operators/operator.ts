import type { DocumentTest } from '../criteria/compile-path.ts';
import type { Condition } from '../criteria/condition.ts';

/** What an operator may ask of the compiler that calls it. */
export interface OperatorContext {
  /** Where the operator stands, such as `age.$gt`. */
  readonly place: string;
  /** The operators beside it, itself included: `$regex` looks for its `$options`. */
  readonly siblings: { readonly $regex?: unknown; readonly $options?: unknown };
  /** Compiles an object of operators. */
  readonly compileOperators: (operators: Record<string, unknown>, place: string) => Condition;
  /** Compiles an object of field criteria for the items of an array. */
  readonly compileFields: (criteria: Record<string, unknown>, place: string) => DocumentTest;
}

/** Makes a condition of an operand, which is plain data, checked and owned by the compiler. */
export type Operator = (operand: unknown, context: OperatorContext) => Condition;

/** Whether a value is an object of operators, such as `{ $gt: 1 }`, as opposed to a literal object. */
export function holdsOperators(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(fields).some((key) => key.startsWith('$'));
}
