/** A document of the model: what the tests change of it. */
export interface Row {
  readonly n: number;
  readonly g: string;
}

/** All data: documents by id, and numbers by key. */
export interface State {
  readonly rows: Map<string, Row>;
  readonly values: Map<string, number>;
}

/** Documents that a query is about. */
export interface Scope {
  readonly g?: string;
  readonly n?: { readonly $gte: number };
}

export type Operation =
  | { readonly op: 'get'; readonly id: string }
  | { readonly op: 'filter' | 'count' | 'least' | 'deleteMany'; readonly scope: Scope }
  | { readonly op: 'patchMany'; readonly scope: Scope; readonly by: number }
  | { readonly op: 'put'; readonly id: string; readonly row: Row }
  | { readonly op: 'increase'; readonly id: string; readonly by: number }
  | { readonly op: 'delete'; readonly id: string }
  | { readonly op: 'valueOf' | 'deleteValue'; readonly key: string }
  | { readonly op: 'add'; readonly key: string; readonly by: number }
  | { readonly op: 'keys' };

export function copyOf({ rows, values }: State): State {
  return { rows: new Map(rows), values: new Map(values) };
}

function isIn({ g, n }: Scope, row: Row): boolean {
  return (g === undefined || row.g === g) && (n === undefined || row.n >= n.$gte);
}

/** Performs an operation on a state. @returns what the database must return. */
export function perform({ rows, values }: State, operation: Operation): unknown {
  const matching = (scope: Scope) =>
    [...rows].filter(([, row]) => isIn(scope, row)).sort(([a], [b]) => (a < b ? -1 : 1));
  switch (operation.op) {
    case 'get':
      return rows.get(operation.id);
    case 'filter':
      return matching(operation.scope);
    case 'count':
      return matching(operation.scope).length;
    case 'least':
      return matching(operation.scope).sort(([, a], [, b]) => a.n - b.n)[0]?.[0];
    case 'deleteMany': {
      const found = matching(operation.scope);
      for (const [id] of found) rows.delete(id);
      return found.length;
    }
    case 'patchMany': {
      const found = matching(operation.scope);
      for (const [id, row] of found) rows.set(id, { ...row, n: row.n + operation.by });
      return found.length;
    }
    case 'put':
      rows.set(operation.id, operation.row);
      return undefined;
    case 'increase': {
      const row = rows.get(operation.id);
      if (row) rows.set(operation.id, { ...row, n: row.n + operation.by });
      return row !== undefined;
    }
    case 'delete':
      return rows.delete(operation.id);
    case 'valueOf':
      return values.get(operation.key);
    case 'deleteValue':
      return values.delete(operation.key);
    case 'add': {
      const sum = (values.get(operation.key) ?? 0) + operation.by;
      values.set(operation.key, sum);
      return sum;
    }
    case 'keys':
      return [...values.keys()].sort();
  }
}

/** A transaction of the model: a copy of the state, changed. */
export class ModelTransaction {
  readonly #before: State;
  readonly #own: State;
  readonly #operations: Operation[] = [];
  /** Whether it has changed something, also if a later operation has undone that. */
  changes = false;

  constructor(state: State) {
    this.#before = copyOf(state);
    this.#own = copyOf(state);
  }

  perform(operation: Operation): unknown {
    this.#operations.push(operation);
    const before = copyOf(this.#own);
    const result = perform(this.#own, operation);
    this.changes ||= operation.op === 'put' || touchedBetween(before, this.#own).length > 0;
    return result;
  }

  /**
   * Whether it would have seen something else, had it run on this state: then it must not be
   * committed.
   */
  mustConflict(now: State): boolean {
    const [then, later] = [copyOf(this.#before), copyOf(now)];
    return this.#operations.some((operation) => {
      const [a, b] = [perform(then, operation), perform(later, operation)];
      return JSON.stringify(a) !== JSON.stringify(b);
    });
  }

  /**
   * Whether nothing of what it has named or searched for was touched: then it must be committed.
   *
   * @param touched Versions that others have put since, `undefined` for a delete, and what they
   *   replaced.
   */
  mustCommit(touched: readonly Touched[]): boolean {
    return touched.every((one) => this.#operations.every((operation) => !concerns(operation, one)));
  }

  /** Makes its changes to a state. */
  commit(now: State): void {
    for (const kind of ['rows', 'values'] as const) {
      const [before, own, target] = [this.#before[kind], this.#own[kind], now[kind]];
      for (const key of before.keys()) if (!own.has(key)) target.delete(key);
      for (const [key, value] of own as Map<string, never>)
        if (before.get(key) !== value) target.set(key, value);
    }
  }
}

/** A change of others. */
export interface Touched {
  readonly kind: 'rows' | 'values';
  readonly key: string;
  readonly versions: readonly (Row | undefined)[];
}

/** The differences of two states. */
export function touchedBetween(before: State, after: State): Touched[] {
  return (['rows', 'values'] as const).flatMap((kind) => {
    const [old, young] = [before[kind], after[kind]] as Map<string, never>[];
    if (!old || !young) return [];
    return [...new Set([...old.keys(), ...young.keys()])]
      .filter((key) => old.get(key) !== young.get(key))
      .map((key) => ({ kind, key, versions: [old.get(key), young.get(key)] }));
  });
}

function concerns(operation: Operation, { kind, key, versions }: Touched): boolean {
  if ('id' in operation) return kind === 'rows' && operation.id === key;
  if ('key' in operation) return kind === 'values' && operation.key === key;
  if ('scope' in operation)
    return kind === 'rows' && versions.some((row) => row && isIn(operation.scope, row));
  return kind === 'values';
}
