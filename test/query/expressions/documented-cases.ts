/** For an expression that is refused, when it is compiled or with its document. */
export const REFUSED: unique symbol = Symbol('refused');

/** What MongoDB's reference says of operators: expressions over a document with their values. */
export interface Documented {
  readonly document: object;
  readonly cases: Readonly<
    Record<string, readonly (readonly [expression: unknown, value: unknown])[]>
  >;
}
