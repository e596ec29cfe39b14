import type { Compare } from '../../value/compare-values.ts';
import type { DocumentTest } from '../compile-path.ts';
import type { Condition } from '../condition.ts';

type Compile<T> = (
  criteria: Record<string, unknown>,
  place: string,
  collated: Compare | undefined,
) => T;

/** The compiler, as seen by an operator. */
export interface OperatorContext {
  /** The place of the operator, such as `age.$gt`. */
  readonly place: string;
  /** All operators of the same object: `$regex` reads its `$options`. */
  readonly siblings: { readonly $regex?: unknown; readonly $options?: unknown };
  /** The order of values, where strings have one of their own. */
  readonly collated: Compare | undefined;
  readonly compileOperators: Compile<Condition>;
  /** Compiles an object of field criteria for the items of an array. */
  readonly compileFields: Compile<DocumentTest>;
}

/** Compiles an operand, plain data checked and owned by the compiler, to a condition. */
export type Operator = (operand: unknown, context: OperatorContext) => Condition;

/**
 * Whether a value is an object of operators, such as `{ $gt: 1 }`, as opposed to a literal object.
 */
export function holdsOperators(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(fields).some((key) => key.startsWith('$'));
}
