import { isIndex, ownsProperty, type PropertyReader, readerOf } from '../path/own-property.ts';
import { isFields } from '../value/value-type.ts';
import { asksPresence, type Condition, singleTest, type ValueTest } from './condition.ts';

/** Tests a document, or an item of an array in its place. */
export type DocumentTest = (document: object) => boolean;

/** Where a path starts: at a document, or at an item of an array, which may be an array itself. */
export type Root = 'document' | 'item';

/**
 * Binds a condition to a dotted path.
 *
 * Nearly all documents have no array on a path: then there is one candidate, and the whole
 * condition runs as one test. With an array on the path, each part of the condition tests every
 * candidate.
 */
export function compilePath(
  segments: readonly string[],
  condition: Condition,
  root: Root,
): DocumentTest {
  const readers = segments.map((key, level) => readerOf(key, level === 0 && root === 'document'));
  const bound: BoundPath = {
    segments,
    readers,
    straight: singleTest(condition),
    branching: compileBranching(segments, readers, condition),
    asksPresence: asksPresence(condition),
  };
  const direct = root === 'document' && readers.every((reader) => reader === undefined);
  if (direct && segments.length === 1) return compileField(segments[0] as string, bound);
  if (direct && segments.length === 2)
    return compileNestedField(segments as [string, string], bound);
  return compileLongPath(bound);
}

interface BoundPath {
  readonly segments: readonly string[];
  /** For each segment its reader, unless a direct read is safe. */
  readonly readers: readonly (PropertyReader | undefined)[];
  /** The whole condition on the one candidate of a path without arrays. */
  readonly straight: ValueTest;
  readonly branching: DocumentTest;
  readonly asksPresence: boolean;
}

function compileField(key: string, { straight, branching, asksPresence }: BoundPath): DocumentTest {
  return (document) => {
    const value = (document as Fields)[key];
    if (value === undefined) return straight(value, asksPresence && ownsProperty(document, key));
    if (typeof value === 'object' && Array.isArray(value)) return branching(document);
    return straight(value, true);
  };
}

function compileNestedField(
  [outer, inner]: readonly [string, string],
  { straight, branching, asksPresence }: BoundPath,
): DocumentTest {
  return (document) => {
    const container = (document as Fields)[outer];
    if (typeof container !== 'object' || container === null) return straight(undefined, false);
    if (Array.isArray(container)) return branching(document);
    const value = (container as Fields)[inner];
    if (value === undefined) return straight(value, asksPresence && ownsProperty(container, inner));
    if (typeof value === 'object' && Array.isArray(value)) return branching(document);
    return straight(value, true);
  };
}

function compileLongPath(bound: BoundPath): DocumentTest {
  const { segments, readers, straight, branching } = bound;
  const last = segments.length - 1;
  return (document) => {
    let container: object = document;
    for (let level = 0; ; level++) {
      const value = read(container, segments[level] as string, readers[level]);
      if (level === last) {
        if (Array.isArray(value)) return branching(document);
        return straight(
          value,
          value !== undefined || ownsProperty(container, segments[last] as string),
        );
      }
      if (typeof value !== 'object' || value === null) return straight(undefined, false);
      if (Array.isArray(value)) return branching(document);
      container = value;
    }
  };
}

type Fields = Record<string, unknown>;

function read(container: object, key: string, reader: PropertyReader | undefined): unknown {
  return reader ? reader(container, key) : (container as Fields)[key];
}

function compileBranching(
  segments: BoundPath['segments'],
  readers: BoundPath['readers'],
  condition: Condition,
): DocumentTest {
  switch (condition.kind) {
    case 'all': {
      const tests = condition.conditions.map((part) => compileBranching(segments, readers, part));
      return (document) => tests.every((test) => test(document));
    }
    case 'not': {
      const test = compileBranching(segments, readers, condition.condition);
      return (document) => !test(document);
    }
    default: {
      const walk: Walk = {
        segments,
        readers,
        positions: segments.map((segment) => (isIndex(segment) ? Number(segment) : -1)),
        test: condition.test,
        each: condition.kind === 'each',
      };
      return (document) => visit(walk, document, 0);
    }
  }
}

interface Walk extends Pick<BoundPath, 'segments' | 'readers'> {
  /** The array position that a segment can stand for, -1 if none. */
  readonly positions: readonly number[];
  readonly test: ValueTest;
  /** Whether the items of an array at the end of the path are candidates as well. */
  readonly each: boolean;
}

/** Tests the candidates from `container` on until one passes. */
function visit(walk: Walk, container: object, level: number): boolean {
  const key = walk.segments[level] as string;
  const value = read(container, key, walk.readers[level]);
  if (level === walk.segments.length - 1) {
    if (walk.each && Array.isArray(value) && visitLeaves(walk.test, value)) return true;
    return walk.test(value, value !== undefined || ownsProperty(container, key));
  }
  if (Array.isArray(value)) return visitItems(walk, value, level + 1);
  if (isFields(value)) return visit(walk, value, level + 1);
  return walk.test(undefined, false);
}

function visitLeaves(test: ValueTest, items: readonly unknown[]): boolean {
  for (const item of items) if (test(item, true)) return true;
  return false;
}

/**
 * Tests the candidates below an array that is not the end of the path.
 *
 * As in MongoDB, a numeric segment is both a field of the objects in the array and a position in
 * the array. The item at the position is one candidate, even if it is an array. Other items that
 * are no objects are no candidates, not even as missing: `{ 'a.b': null }` does not match
 * `{ a: [1, 2] }`.
 */
function visitItems(walk: Walk, items: readonly unknown[], level: number): boolean {
  const position = walk.positions[level] as number;
  const last = level === walk.segments.length - 1;
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    const fields = isFields(item);
    if (fields && visit(walk, item, level)) return true;
    if (index !== position) continue;
    if (last) {
      if (walk.test(item, true)) return true;
    } else if (fields) {
      if (visit(walk, item, level + 1)) return true;
    } else if (Array.isArray(item)) {
      if (visitItems(walk, item, level + 1)) return true;
    }
  }
  return false;
}
