import { isPlainObject } from '../codec/kinds.ts';
import { sameValue } from '../codec/same-value.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What three states were merged into. */
interface Merged {
  readonly result: object | undefined;
  /** Paths that both sides had changed to different values; the remote one won. */
  readonly lost: readonly string[];
}

/** Managed fields: the later one wins, and that loses nothing. */
const STAMPED = /^_(created|updated|archived|unarchived)_at$/;

/** No field of that name. */
const ABSENT = Symbol('absent');

/**
 * Merges a document by fields. Fields that one side has changed are taken from it. Where both have
 * changed the same field to different values, the remote one wins. Objects are merged inside;
 * arrays and other values are taken as a whole. A document that one side has deleted and the other
 * changed stays, as it was changed.
 *
 * @param base The state that both derive from; `undefined` where none is known.
 */
export function mergeChangedFields(
  base: object | undefined,
  local: object | undefined,
  remote: object | undefined,
): Merged {
  if (sameContent(local, remote)) return { result: remote, lost: [] };
  if (!local) return { result: base && sameContent(base, remote) ? undefined : remote, lost: [] };
  if (!remote) return { result: base && sameContent(base, local) ? undefined : local, lost: [] };
  const lost: string[] = [];
  const result = mergeObjects(base as Fields, local as Fields, remote as Fields, '', lost);
  return { result, lost };
}

function mergeObjects(
  base: Fields | undefined,
  local: Fields,
  remote: Fields,
  path: string,
  lost: string[],
): object {
  const merged: [string, unknown][] = [];
  for (const key of new Set([...Object.keys(remote), ...Object.keys(local)])) {
    const place = path + key;
    const [l, r, b] = [own(local, key), own(remote, key), base && own(base, key)];
    const value = mergeField(b, l, r, place, lost);
    if (value !== ABSENT) merged.push([key, value]);
  }
  // Not by assignment: `__proto__` is a name like others here.
  return Object.fromEntries(merged);
}

function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : ABSENT;
}

/** @param base `undefined` where no state is known that both derive from. */
function mergeField(
  base: unknown,
  local: unknown,
  remote: unknown,
  place: string,
  lost: string[],
): unknown {
  if (sameContent(local, remote)) return remote;
  if (base === undefined) {
    // Each may have added what the other lacks.
    if (local === ABSENT) return remote;
    if (remote === ABSENT) return local;
  } else {
    if (sameContent(local, base)) return remote;
    if (sameContent(remote, base)) return local;
  }
  if (isPlainObject(local) && isPlainObject(remote)) {
    const from = isPlainObject(base) ? (base as Fields) : undefined;
    return mergeObjects(from, local as Fields, remote as Fields, `${place}.`, lost);
  }
  if (STAMPED.test(place) && local instanceof Date && remote instanceof Date)
    return local > remote ? local : remote;
  lost.push(place);
  return remote;
}

/**
 * Whether two values are deeply equal. The order of keys does not matter: servers do not keep it.
 */
export function sameContent(a: unknown, b: unknown): boolean {
  if (isPlainObject(a) && isPlainObject(b)) {
    const left = a as Record<string, unknown>;
    const right = b as Record<string, unknown>;
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && sameContent(left[key], right[key]))
    );
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    // Holes have no key: an array of another device may be as long as any, and empty.
    const keys = Object.keys(a) as unknown as number[];
    return (
      a.length === b.length &&
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && sameContent(a[key], b[key]))
    );
  }
  return sameValue(a, b);
}
