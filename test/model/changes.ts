type Fields = Record<string, unknown>;

/** The refusal of a change. */
export interface Refusal {
  readonly code: string;
}

const mismatch: Refusal = { code: 'kind_mismatch' };

/**
 * What changes make of fields, done naively; the fields stay as they are. Operators are of whole
 * fields.
 */
export function changed(fields: Fields, changes: object): Fields | Refusal {
  const made: any = structuredClone(fields);
  for (const [key, operand] of Object.entries(changes)) {
    const refusal = key.startsWith('$')
      ? operate(made, key, operand as Fields)
      : setAt(made, key, operand);
    if (refusal) return refusal;
  }
  return made;
}

export function isRefusal(made: Fields | Refusal): made is Refusal {
  return made.code === 'kind_mismatch';
}

function setAt(made: any, path: string, value: unknown): Refusal | undefined {
  const [first, second] = path.split('.') as [string, string | undefined];
  if (second === undefined) made[first] = structuredClone(value);
  else {
    if (made[first] === undefined) made[first] = {};
    if (made[first] === null || made[first].constructor !== Object) return mismatch;
    made[first][second] = structuredClone(value);
  }
  return undefined;
}

function operate(made: Fields, operator: string, operands: Fields): Refusal | undefined {
  for (const [field, operand] of Object.entries(operands)) {
    const before = made[field];
    switch (operator) {
      case '$inc':
        if (before !== undefined && typeof before !== 'number') return mismatch;
        made[field] = (before ?? 0) + (operand as number);
        break;
      case '$push':
        if (before !== undefined && !Array.isArray(before)) return mismatch;
        if (before) before.push(operand);
        else made[field] = [operand];
        break;
      case '$unset':
        delete made[field];
        break;
      default:
        throw new Error(`The model has no ${operator}.`);
    }
  }
  return undefined;
}

/** A function for `modify`: counts up, and leaves 5 alone. */
export function countUp<T extends object>(document: T): T | undefined {
  const { n } = document as { n?: unknown };
  if (n === 5) return undefined;
  return { ...document, n: typeof n === 'number' ? n + 1 : 0 };
}
