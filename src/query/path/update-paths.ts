import { KeyError, ValueError } from '../../errors/errors.ts';
import { compareFieldPaths, isPositional, parseFieldPath } from './key-path.ts';

export interface SplitPath {
  readonly path: string;
  readonly segments: readonly string[];
}

/**
 * @throws {KeyError} `paths_conflict` when one path of an update is equal to another, or inside it:
 *   their order would decide.
 */
export function checkConflicts(paths: readonly SplitPath[], of = 'changes'): void {
  if (paths.length < 2) return;
  // In the order of segments a path stands directly before a path inside it, or before another one
  // inside it.
  const sorted = paths.toSorted((a, b) => compareFieldPaths(a.segments, b.segments));
  for (const [index, { path, segments }] of sorted.entries()) {
    const outer = sorted[index - 1];
    if (!outer?.segments.every((segment, at) => segment === segments[at])) continue;
    if (outer.path === path) throw conflict(path, of, `"${shortened(path)}" twice`);
    const inside = `"${shortened(outer.path)}" and "${shortened(path)}", which is inside it`;
    throw conflict(path, of, inside);
  }
}

function conflict(path: string, of: string, which: string): KeyError {
  const message = `The ${of} name ${which}; nothing was changed. Give one of them.`;
  return new KeyError('paths_conflict', message, { place: path });
}

function shortened(path: string): string {
  return path.length > 80 ? `${path.slice(0, 80)}…` : path;
}

/**
 * Splits a path of an update.
 *
 * @param place Where it stands in the changes.
 * @throws {KeyError} `key_invalid`; {ValueError} `update_invalid`
 */
export function splitUpdatePath(path: string, place: string): SplitPath {
  const segments = parseFieldPath(path);
  if (isPositional(segments[0] as string))
    throw updateInvalid(place, `begins with ${segments[0]}, which follows an array`);
  return { path, segments };
}

/** @param place Where in the changes, such as `changes.$inc.count`. */
export function updateInvalid(place: string, problem: string): ValueError {
  return new ValueError('update_invalid', `${place} ${problem}. Nothing was changed.`, { place });
}
