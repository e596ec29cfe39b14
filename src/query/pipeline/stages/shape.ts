import { checkPath } from '../../path/own-property.ts';
import { operandInvalid, placeBelow } from '../../query-errors.ts';
import { isFields } from '../../value/value-type.ts';
import {
  type CompileStage,
  compileValue,
  type Documents,
  emit,
  fieldName,
  fieldsOf,
  passing,
  rowStage,
  type Stage,
  type StageScope,
} from '../stage.ts';

type Fields = Record<string, unknown>;

type Evaluate = (document: object) => unknown;

/**
 * What becomes of a field: it is kept (`true`), left out (`false`), computed, or looked into. They
 * are computed in the order given.
 */
type ShapeRule = boolean | Evaluate | Shape;

class Shape {
  readonly rules = new Map<string, ShapeRule>();
  /** Whether fields inside are computed. */
  computes = false;
  /** Whether fields inside are kept, or left out. */
  projects = false;
}

/** `$project`: keeps fields, leaves them out, or computes them. */
const project: CompileStage = (operand, place, scope) => {
  const given = entriesOf(operand, place);
  const reading = new ShapeReading(scope);
  let id: unknown = true;
  for (const [path, value] of given) {
    if (path === '_id' && isFlag(value)) id = Boolean(value);
    else reading.add(path, value, placeBelow(place, path), true);
  }
  const { root, roots } = reading;
  // `_id` alone decides where nothing else does.
  const keeps = reading.keeps ?? (root.computes || id === true);
  if (!root.rules.has('_id') && (keeps ? id === true : id === false)) reading.prepend('_id', keeps);
  if (keeps) for (const name of root.rules.keys()) roots.add(name);
  return [rowStage(place, roots, keeps, shaping(root, keeps))];
};

/** `$addFields`, `$set`: adds fields, and replaces those that are there. */
const addFields: CompileStage = (operand, place, scope) => {
  const reading = new ShapeReading(scope);
  for (const [path, value] of entriesOf(operand, place))
    reading.add(path, value, placeBelow(place, path), false);
  const { root, roots } = reading;
  // What is inside of an array or object is kept beside what is added.
  for (const [name, rule] of root.rules) if (rule instanceof Shape) roots.add(name);
  return [rowStage(place, roots, false, shaping(root, false))];
};

/** `$unset`: leaves fields out. */
const unset: CompileStage = (operand, place, scope) => {
  const paths: readonly unknown[] = Array.isArray(operand) ? operand : [operand];
  if (paths.length === 0) throw operandInvalid(place, 'a path, or a list of them', operand);
  const reading = new ShapeReading(scope);
  for (const [index, path] of paths.entries()) {
    const at = Array.isArray(operand) ? placeBelow(place, index) : place;
    reading.add(fieldName(path, at, true), false, at, true);
  }
  return [rowStage(place, reading.roots, false, shaping(reading.root, false))];
};

/** `$replaceRoot`: a document of the document, or computed of it. */
const replaceRoot: CompileStage = (operand, place, scope) => {
  if (!isFields(operand) || !('newRoot' in operand) || Object.keys(operand).length > 1)
    throw operandInvalid(place, '{ newRoot }', operand);
  return [replacing(operand.newRoot, `${place}.newRoot`, scope)];
};

/** `$replaceWith`: the same, without a name. */
const replaceWith: CompileStage = (operand, place, scope) => [replacing(operand, place, scope)];

function replacing(expression: unknown, place: string, scope: StageScope): Stage {
  const { evaluate, roots } = compileValue(expression, place, scope);
  return rowStage(place, roots, true, (documents) =>
    documents.map((document) => {
      const value = evaluate(document);
      if (isFields(value)) return value;
      throw operandInvalid(place, 'an object for each document', value);
    }),
  );
}

function entriesOf(operand: unknown, place: string): [string, unknown][] {
  const entries = isFields(operand) ? Object.entries(operand) : [];
  if (entries.length > 0) return entries;
  throw operandInvalid(place, 'an object of at least one field', operand);
}

const isFlag = (value: unknown) => typeof value === 'boolean' || typeof value === 'number';

class ShapeReading {
  readonly root = new Shape();
  readonly roots = new Set<string>();
  /** Whether fields are kept, or left out; `undefined` where none is either. */
  keeps: boolean | undefined;
  readonly #scope: StageScope;

  constructor(scope: StageScope) {
    this.#scope = scope;
  }

  /** @param projects Whether `1` and `0` keep a field, and leave it out. */
  add(path: string, value: unknown, place: string, projects: boolean): void {
    const segments = checkPath(path, 'operand_invalid', place);
    for (const segment of segments) fieldName(segment, place);
    this.#add(segments, value, place, projects);
  }

  prepend(name: string, keeps: boolean): void {
    const rest = [...this.root.rules];
    this.root.rules.clear();
    this.root.rules.set(name, keeps);
    this.root.projects = true;
    for (const [key, rule] of rest) this.root.rules.set(key, rule);
  }

  #add(segments: readonly string[], value: unknown, place: string, projects: boolean): void {
    const isNested = isFields(value) && !Object.keys(value).some((key) => key.startsWith('$'));
    if (!isNested) {
      this.#put(segments, this.#ruleOf(value, place, projects), place);
      return;
    }
    const inside = Object.entries(value);
    if (inside.length === 0) throw operandInvalid(place, 'an expression', value);
    for (const [key, one] of inside) {
      const at = placeBelow(place, key);
      const below = checkPath(key, 'operand_invalid', at);
      for (const segment of below) fieldName(segment, at);
      this.#add([...segments, ...below], one, at, projects);
    }
  }

  #ruleOf(value: unknown, place: string, projects: boolean): ShapeRule {
    if (projects && isFlag(value)) {
      const keeps = Boolean(value);
      if (this.keeps !== undefined && this.keeps !== keeps)
        throw operandInvalid(place, keeps ? '0, as others are' : '1, as others are', value);
      if (!keeps && this.root.computes)
        throw operandInvalid(place, 'left out beside computed fields', value);
      this.keeps = keeps;
      return keeps;
    }
    if (this.keeps === false) throw operandInvalid(place, '0, as others are', value);
    const { evaluate, roots } = compileValue(value, place, this.#scope);
    for (const root of roots) this.roots.add(root);
    return evaluate;
  }

  #put(segments: readonly string[], rule: ShapeRule, place: string): void {
    let shape = this.root;
    const computes = typeof rule === 'function';
    for (const [index, segment] of segments.entries()) {
      if (computes) shape.computes = true;
      else shape.projects = true;
      const there = shape.rules.get(segment);
      if (index === segments.length - 1) {
        if (there !== undefined)
          throw operandInvalid(place, 'the only path that leads here or through here', segment);
        shape.rules.set(segment, rule);
        return;
      }
      if (there !== undefined && !(there instanceof Shape))
        throw operandInvalid(place, 'the only path that leads here or through here', segment);
      const below = there ?? new Shape();
      shape.rules.set(segment, below);
      shape = below;
    }
  }
}

/** The function of a shape. Values are shared with the documents, which stay as they are. */
function shaping(shape: Shape, keeps: boolean): (documents: Documents) => Documents {
  return (documents) =>
    documents.map((document) => {
      const projected =
        shape.projects || keeps ? projectFields(document as Fields, shape, keeps) : { ...document };
      if (shape.computes) compute(projected, shape, document);
      return projected;
    });
}

function projectFields(fields: Fields, { rules }: Shape, keeps: boolean): Fields {
  const result: Fields = {};
  for (const key of Object.keys(fields)) {
    const rule = rules.get(key) ?? !keeps;
    if (rule === true) result[key] = fields[key];
    else if (rule instanceof Shape) {
      const shown = projectValue(fields[key], rule, keeps);
      if (shown !== undefined) result[key] = shown;
    }
  }
  return result;
}

function projectValue(value: unknown, shape: Shape, keeps: boolean): unknown {
  if (isFields(value)) return projectFields(value, shape, keeps);
  if (!Array.isArray(value)) return keeps ? undefined : value;
  const items = value.map((item) => projectValue(item, shape, keeps));
  return keeps ? items.filter((item) => item !== undefined) : items;
}

/** Sets the computed fields of an own copy. */
function compute(target: Fields, { rules }: Shape, document: object): void {
  for (const [key, rule] of rules) {
    if (typeof rule === 'boolean') continue;
    const value =
      typeof rule === 'function'
        ? rule(document)
        : rule.computes
          ? computeIn(Object.hasOwn(target, key) ? target[key] : undefined, rule, document)
          : target[key];
    if (value !== undefined) target[key] = value;
    else if (typeof rule === 'function') delete target[key];
  }
}

/** Where fields inside of a value are computed, a value without fields becomes an object. */
function computeIn(value: unknown, shape: Shape, document: object): unknown {
  if (Array.isArray(value)) return value.map((item) => computeIn(item, shape, document));
  const copy: Fields = isFields(value) ? { ...value } : {};
  compute(copy, shape, document);
  return copy;
}

/** `$unwind`: one document for each item of an array. */
const unwind: CompileStage = (operand, place) => {
  const isShort = typeof operand === 'string';
  const given = isShort
    ? { path: operand }
    : fieldsOf(operand, place, ['path'], ['includeArrayIndex', 'preserveNullAndEmptyArrays']);
  const {
    path,
    includeArrayIndex: index,
    preserveNullAndEmptyArrays: preserves = false,
  } = given as Record<string, unknown>;
  const at = isShort ? place : `${place}.path`;
  if (typeof path !== 'string' || !path.startsWith('$') || path.startsWith('$$'))
    throw operandInvalid(at, 'a path such as "$items"', path);
  const segments = fieldName(path.slice(1), at, true).split('.');
  if (typeof preserves !== 'boolean')
    throw operandInvalid(`${place}.preserveNullAndEmptyArrays`, 'true or false', preserves);
  const counted =
    index === undefined
      ? undefined
      : fieldName(index, `${place}.includeArrayIndex`, true).split('.');
  const rules = { segments, counted, preserves };
  return [
    {
      place,
      roots: new Set([segments[0] as string]),
      isClosed: false,
      open: (run, next) => passing(next, (documents) => emit(run, unwound(documents, rules), next)),
    },
  ];
};

interface UnwindRules {
  readonly segments: readonly string[];
  /** The path that gets the position of the item. */
  readonly counted: readonly string[] | undefined;
  /** Whether a document stays that has no item. */
  readonly preserves: boolean;
}

function* unwound(
  documents: Documents,
  { segments, counted, preserves }: UnwindRules,
): Generator<object> {
  for (const document of documents as readonly Fields[]) {
    const value = valueAt(document, segments);
    const isArray = Array.isArray(value);
    if (isArray && value.length > 0) {
      for (let at = 0; at < value.length; at++) {
        const made = withValue(document, segments, value[at]);
        yield counted ? withValue(made, counted, at) : made;
      }
    } else if (preserves || !(isArray || value === null || value === undefined)) {
      const made = isArray ? without(document, segments) : document;
      yield counted ? withValue(made, counted, null) : made;
    }
  }
}

function valueAt(document: Fields, segments: readonly string[]): unknown {
  let value: unknown = document;
  for (const segment of segments)
    value = isFields(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
  return value;
}

export function withValue(
  fields: Fields,
  [first, ...rest]: readonly string[],
  value: unknown,
): Fields {
  const key = first as string;
  const there = Object.hasOwn(fields, key) ? fields[key] : undefined;
  const inside = isFields(there) ? there : {};
  return { ...fields, [key]: rest.length === 0 ? value : withValue(inside, rest, value) };
}

function without(fields: Fields, [first, ...rest]: readonly string[]): Fields {
  const key = first as string;
  const copy = { ...fields };
  if (rest.length === 0) delete copy[key];
  else copy[key] = without(copy[key] as Fields, rest);
  return copy;
}

export const shapingStages = {
  $project: project,
  $set: addFields,
  $addFields: addFields,
  $unset: unset,
  $replaceRoot: replaceRoot,
  $replaceWith: replaceWith,
  $unwind: unwind,
};
