import { ValueError } from '../errors/errors.ts';
import { type Body, peek } from './body.ts';
import { baseOf, isPlainObject, isRevoked, nameOf, type Tag, tagOf } from './kinds.ts';

/**
 * Deepest nesting of a value. Structured clone and `JSON.parse` recurse on the native stack, which
 * is smallest in workers; browsers fail between 5,000 and 20,000 levels, with a RangeError without
 * details.
 */
const MAX_DEPTH = 500;

/** The key of what a draft of a form is known by. A spread copies it; it is stored nowhere. */
export const draftMark: unique symbol = Symbol('draft');

// A page checks what it is given, a worker gets what passed that.
let toPlatformValue: (value: object) => object | undefined =
  'WorkerGlobalScope' in globalThis ? Object : () => undefined;

/** Takes objects of the platform, such as a CryptoKey, by what knows them. */
export function takePlatformBy(convert: typeof toPlatformValue): void {
  toPlatformValue = convert;
}

export interface Captured {
  /** A deep copy that shares nothing mutable with the original. */
  readonly copy: unknown;
  /** Whether JSON preserves the value exactly, as it does not a Date, Map, bigint, NaN, -0 … */
  readonly json: boolean;
}

/** The path from the root to the current value, to find cycles and to name places in errors. */
interface Trail {
  readonly root: string;
  readonly keys: (string | number)[];
  readonly parents: object[];
  json: boolean;
  /** Whether a subclass counts as its base, which it comes back as: where nothing is stored. */
  readonly takesBases: boolean;
}

/**
 * Checks that a value can be stored and copies it, in one pass. Each property is read once: a
 * getter or proxy cannot return another value after the check.
 *
 * @param root Name of the value in errors, such as `document`.
 * @param takesBases Whether a subclass of a built-in counts as its base, as in criteria.
 * @throws {ValueError} for functions, symbols, class instances, cycles, `__proto__`.
 */
export function capture(value: unknown, root: string, takesBases = false): Captured {
  const trail: Trail = { root, keys: [], parents: [], json: true, takesBases };
  const copy = take(value, trail, 0);
  return { copy, json: trail.json };
}

export function copy<T>(value: T): T {
  return capture(value, 'value').copy as T;
}

/**
 * Checks, copies and encodes a value in one step.
 *
 * @param root Name of the value in errors, such as `document`.
 * @param takesBases As in {@link capture}.
 * @throws {ValueError} with the path of a value that cannot be stored.
 */
export function encode(value: unknown, root: string, takesBases = false): Body {
  return encodeCaptured(capture(value, root, takesBases));
}

/** Encodes a value and returns a copy for the caller: cheaper than decoding the body. */
export function encodeAndCopy(value: unknown, root: string): { body: Body; copy: unknown } {
  const captured = capture(value, root);
  const body = encodeCaptured(captured);
  return { body, copy: typeof body === 'string' ? captured.copy : copy(captured.copy) };
}

/** Encodes a private copy, which nobody may change any more unless it becomes a string. */
export function encodeCaptured({ copy: captured, json }: Captured): Body {
  return json ? JSON.stringify(captured) : { exact: captured };
}

/**
 * Decodes a body to a copy for the caller.
 *
 * @throws {StorageError} `data_damaged`
 */
export function decode(body: Body): unknown {
  const value = peek(body);
  return typeof body === 'string' ? value : copy(value);
}

function take(value: unknown, trail: Trail, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value) || (value === 0 && 1 / value < 0)) trail.json = false;
      return value;
    case 'undefined':
    case 'bigint':
      trail.json = false;
      return value;
    case 'object':
      return value === null ? null : takeObject(value, trail, depth);
    default:
      throw unsupported(trail, depth, `a ${typeof value}`);
  }
}

function takeObject(value: object, trail: Trail, depth: number): unknown {
  if (depth >= MAX_DEPTH) {
    throw refused('value_too_deep', trail, depth, `is nested over ${MAX_DEPTH} levels.`);
  }
  for (let above = 0; above < depth; above++) {
    if (trail.parents[above] === value) {
      throw refused('value_cyclic', trail, depth, 'contains itself; store an id instead.');
    }
  }
  if (isRevoked(value)) throw unsupported(trail, depth, 'a revoked proxy');
  trail.parents[depth] = value;
  if (Array.isArray(value)) return takeArray(value, trail, depth);
  if (isPlainObject(value)) return takePlain(value, trail, depth);
  trail.json = false;
  return takeBuiltIn(value, trail, depth);
}

function takeArray(value: readonly unknown[], trail: Trail, depth: number): unknown[] {
  const result: unknown[] = [];
  for (let index = 0; index < value.length; index++) {
    const item = value[index];
    // Only `undefined` can be a hole.
    if (item === undefined && !(index in value)) return takeSparse(value, result, trail, depth);
    trail.keys[depth] = index;
    result.push(typeof item === 'string' ? item : take(item, trail, depth + 1));
  }
  return result;
}

/** Copies the rest of an array from its first hole: holes stay holes and cost no time. */
function takeSparse(
  value: readonly unknown[],
  result: unknown[],
  trail: Trail,
  depth: number,
): unknown[] {
  trail.json = false;
  const taken = result.length;
  for (const key of Object.keys(value).slice(taken)) {
    const index = Number(key);
    // Indexes come first (ECMA-262, OrdinaryOwnPropertyKeys); other properties of an array are
    // dropped.
    if (!(index < value.length)) break;
    trail.keys[depth] = index;
    result[index] = take(value[index], trail, depth + 1);
  }
  result.length = value.length;
  return result;
}

function takePlain(
  value: Record<string, unknown>,
  trail: Trail,
  depth: number,
): Record<string, unknown> {
  // A spread reads each property once, and is several times faster than key by key.
  const result = { ...value };
  // Hot path: unlike `Object.keys`, `for in` makes no list.
  for (const key in result) {
    const item = result[key];
    trail.keys[depth] = key;
    if (key === '__proto__')
      throw refused('key_forbidden', trail, depth + 1, 'is a key that cannot be stored.');
    if (typeof item === 'string') continue;
    if (typeof item === 'number') take(item, trail, depth + 1);
    // Not what another script has added to `Object.prototype`.
    else if (Object.hasOwn(result, key)) result[key] = take(item, trail, depth + 1);
  }
  for (const symbol of Object.getOwnPropertySymbols(result)) {
    if (symbol !== draftMark)
      throw unsupported(trail, depth, `an object with the symbol key ${String(symbol)}`);
    delete result[symbol as never];
  }
  return result;
}

function takeBuiltIn(value: object, trail: Trail, depth: number): unknown {
  const tag = trail.takesBases ? baseOf(value) : tagOf(value);
  const held = contentOf(value, tag);
  if (!held) {
    const { constructor: Class } = value as { constructor?: { name?: string } };
    // A minifier leaves a letter or two of a name.
    const name = Class?.name?.slice(2) ? Class.name : 'a class';
    const base = !tag && baseOf(value) && nameOf(value);
    const remedy = base ? `, a subclass of ${base} (write new ${base}(value))` : '';
    throw unsupported(trail, depth, `${tag ? 'an unreadable' : 'an instance of'} ${name}${remedy}`);
  }
  if (tag === 'Map') {
    const entries = (held as [unknown, unknown][]).map(([key, item]) => {
      trail.keys[depth] = typeof key === 'object' ? '<key>' : String(key);
      return [take(key, trail, depth + 1), take(item, trail, depth + 1)] as const;
    });
    return new Map(entries);
  }
  return tag === 'Set' ? new Set(takeArray(held as unknown[], trail, depth)) : held;
}

/**
 * A copy of a built-in; of a Map or Set, its entries. `undefined` for other classes, and for
 * objects without the internal slots of their class: a proxy, a detached buffer.
 */
function contentOf(value: object, tag: Tag | undefined): object | undefined {
  try {
    switch (tag) {
      case 'Date':
        return new Date((value as Date).getTime());
      case 'RegExp':
        return new RegExp(value as RegExp);
      case 'Map':
      case 'Set':
        return [...(value as Set<unknown>)];
      case 'ArrayBuffer':
        return new Uint8Array(value as ArrayBuffer).slice().buffer;
      case 'View': {
        // Only the bytes of the view: its buffer may be far larger.
        const view = value as ArrayBufferView;
        const { buffer } = new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();
        // The class of this realm.
        const View = (globalThis as unknown as Views)[nameOf(view)] as Views[string];
        return new View(buffer);
      }
      case 'Blob':
      case 'File':
        // Immutable, so the copy shares it. A Blob that cannot be cloned would make every save
        // fail.
        if (!((value as Blob).size >= 0)) return undefined;
        return value instanceof Blob ? value : structuredClone(value);
      case undefined:
        return toPlatformValue(value);
    }
  } catch (error) {
    // What has the name of a Blob alone cannot be cloned.
    const { name } = error as Error;
    if (!(error instanceof TypeError) && name !== 'DataCloneError') throw error;
  }
  return undefined;
}

type Views = Readonly<Record<string, new (buffer: ArrayBuffer) => ArrayBufferView>>;

function unsupported(trail: Trail, depth: number, what: string): ValueError {
  return refused(
    'value_unsupported',
    trail,
    depth,
    `is ${what}, which cannot be stored. Allowed are JSON values, undefined, bigint, Date, RegExp, Map, ` +
      'Set, ArrayBuffer and its views, and Blob.',
  );
}

function refused(code: ValueError['code'], trail: Trail, depth: number, why: string): ValueError {
  let place = trail.root;
  for (const key of trail.keys.slice(0, depth)) {
    place += typeof key === 'number' ? `[${key}]` : `.${key}`;
  }
  return new ValueError(code, `${place} ${why}`, { place });
}
