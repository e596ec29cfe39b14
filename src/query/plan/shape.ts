/** Operators whose operand is one scalar. */
const COMPARISONS: ReadonlySet<string> = new Set(['$eq', '$gt', '$gte', '$lt', '$lte']);

/** A comparison of criteria, without its operand. */
export interface Comparison {
  readonly path: string;
  readonly operator: string;
}

/**
 * What queries have in common that differ only in their constants: the comparisons in order, and
 * the sort. Shapes form a tree, so that a query finds its own by one lookup for each path and
 * operator.
 */
export class Shape {
  readonly comparisons: readonly Comparison[];
  readonly sort: Readonly<Record<string, 1 | -1>> | undefined;
  /** What was prepared for queries of this shape. */
  prepared: unknown;
  /** The path whose operators come next. */
  readonly #path: string;
  /** Apart: a key that is right in one place may be wrong, or mean another thing, in the others. */
  readonly #fields = new Map<string, Shape>();
  readonly #operators = new Map<string, Shape>();
  readonly #sorted = new Map<string, Shape>();

  private constructor(
    comparisons: readonly Comparison[],
    sort: Readonly<Record<string, 1 | -1>> | undefined,
    path: string,
  ) {
    this.comparisons = comparisons;
    this.sort = sort;
    this.#path = path;
  }

  static empty(): Shape {
    return new Shape([], undefined, '');
  }

  /** With criteria of one more field. `undefined` for a key that needs a closer look. */
  field(path: string): Shape | undefined {
    const known = this.#fields.get(path);
    if (known) return known;
    if (path[0] === '$' || path.includes('__proto__')) return undefined;
    return add(this.#fields, path, new Shape(this.comparisons, this.sort, path));
  }

  /** With one more operator of the field. `undefined` for one that needs a closer look. */
  operator(operator: string): Shape | undefined {
    const known = this.#operators.get(operator);
    if (known) return known;
    if (!COMPARISONS.has(operator)) return undefined;
    const comparisons = [...this.comparisons, { path: this.#path, operator }];
    return add(this.#operators, operator, new Shape(comparisons, this.sort, this.#path));
  }

  /** Sorted by one more field, behind the criteria. */
  sorted(path: string, direction: 1 | -1): Shape | undefined {
    const label = direction === 1 ? `+${path}` : `-${path}`;
    const known = this.#sorted.get(label);
    if (known) return known;
    if (path.includes('__proto__')) return undefined;
    const sort = { ...this.sort, [path]: direction };
    return add(this.#sorted, label, new Shape(this.comparisons, sort, ''));
  }
}

function add(shapes: Map<string, Shape>, label: string, shape: Shape): Shape {
  shapes.set(label, shape);
  return shape;
}
