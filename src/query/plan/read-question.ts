/** A query as its shape and the constants of this one. */
export interface Question {
  readonly shape: Shape;
  /** The operand of each comparison. */
  readonly constants: readonly (string | number | boolean)[];
  readonly skip: number;
  readonly limit: number;
}

type Constant = Question['constants'][number];

/** Queries read before the shapes are forgotten: keys may be made of data. */
const MOST_SHAPES = 1000;

/** Reads queries that consist of comparisons with scalars, as most do. */
export class QuestionReader {
  #empty = Shape.empty();
  #misses = 0;

  /**
   * Reads each property once: nothing has to be copied.
   *
   * @param most The highest limit.
   * @returns `undefined` for any other query, valid or not.
   */
  read(params: unknown, options: unknown, most: number): Question | undefined {
    if (!isSimple(params)) return undefined;
    const constants: Constant[] = [];
    let shape: Shape | undefined = this.#empty;
    for (const path of Object.keys(params)) {
      const value = params[path];
      shape = shape.field(path);
      if (typeof value !== 'object') {
        shape = shape?.operator('$eq');
        if (!shape || !isConstant(value)) return undefined;
        constants.push(value);
      } else {
        shape = shape && readOperators(shape, value, constants);
        if (!shape) return undefined;
      }
    }
    if (options === undefined) return this.#asked({ shape, constants, skip: 0, limit: most });
    return this.#readOptions(shape, constants, options, most);
  }

  #readOptions(
    criteria: Shape,
    constants: readonly Constant[],
    options: unknown,
    most: number,
  ): Question | undefined {
    if (!isSimple(options)) return undefined;
    let shape: Shape | undefined = criteria;
    let skip = 0;
    let limit = most;
    for (const option of Object.keys(options)) {
      const value = options[option];
      if (option === 'sort') shape = readSort(shape, value);
      else if (!isCount(value)) return undefined;
      else if (option === 'limit') limit = Math.min(value, most);
      else if (option === 'skip') skip = value;
      else return undefined;
      if (!shape) return undefined;
    }
    return this.#asked({ shape, constants, skip, limit });
  }

  #asked(question: Question): Question {
    if (question.shape.prepared === undefined && ++this.#misses > MOST_SHAPES) {
      this.#empty = Shape.empty();
      this.#misses = 0;
    }
    return question;
  }
}

function readOperators(field: Shape, operators: unknown, constants: Constant[]): Shape | undefined {
  if (!isSimple(operators)) return undefined;
  const names = Object.keys(operators);
  // An empty object is a value to compare with.
  if (names.length === 0) return undefined;
  let shape: Shape | undefined = field;
  for (const name of names) {
    const value = operators[name];
    shape = shape.operator(name);
    if (!shape || !isConstant(value)) return undefined;
    constants.push(value);
  }
  return shape;
}

function readSort(criteria: Shape, sort: unknown): Shape | undefined {
  if (!isSimple(sort)) return undefined;
  let shape: Shape | undefined = criteria;
  for (const path of Object.keys(sort)) {
    const direction = sort[path];
    if (direction !== 1 && direction !== -1) return undefined;
    shape = shape?.sorted(path, direction);
  }
  return shape;
}

/** Whether it is an object without surprises: of this realm, without symbols. */
function isSimple(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as unknown;
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.getOwnPropertySymbols(value).length === 0;
}

function isConstant(value: unknown): value is Constant {
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

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
class Shape {
  readonly comparisons: readonly Comparison[];
  readonly sort: Readonly<Record<string, 1 | -1>> | undefined;
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
