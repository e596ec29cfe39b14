import { compareFieldPaths, parseFieldPath } from '../../engine/paths/key-path.ts';
import { isManaged } from '../../engine/protocol/managed.ts';
import { KeyError } from '../../errors/key-error.ts';
import { updateInvalid } from './update-errors.ts';

/** A dotted path that an update changes. */
export interface UpdatePath {
  readonly path: string;
  readonly segments: readonly string[];
  readonly isManaged: boolean;
}

/**
 * @param place Where the path stands in the changes.
 * @throws {KeyError} `key_invalid`; {ValueError} `update_invalid` for a positional operator.
 */
export function parseUpdatePath(path: string, place: string): UpdatePath {
  const segments = parseFieldPath(path);
  const positional = segments.find((segment) => /^\$(\[.*\])?$/s.test(segment));
  if (positional !== undefined) {
    const problem = `uses the positional operator ${positional}, which is not supported; give the position, as in "items.0", or use modify`;
    throw updateInvalid(place, problem);
  }
  return { path, segments, isManaged: isManaged(path) };
}

/** @throws {KeyError} `paths_conflict` when one path is equal to another, or inside it: their order would decide. */
export function checkConflicts(paths: readonly UpdatePath[]): void {
  if (paths.length < 2) return;
  // In the order of segments a path stands directly before a path inside it, or before another one inside it.
  const sorted = paths.toSorted((a, b) => compareFieldPaths(a.segments, b.segments));
  for (const [index, { path, segments }] of sorted.entries()) {
    const outer = sorted[index - 1];
    if (!outer?.segments.every((segment, at) => segment === segments[at])) continue;
    if (outer.path === path) throw conflict(path, `"${shortened(path)}" twice`);
    const inside = `"${shortened(outer.path)}" and "${shortened(path)}", which is inside it`;
    throw conflict(path, inside);
  }
}

function conflict(path: string, which: string): KeyError {
  const message = `The changes name ${which}; nothing was changed. Give one of them.`;
  return new KeyError('paths_conflict', message, { place: path });
}

function shortened(path: string): string {
  return path.length > 80 ? `${path.slice(0, 80)}…` : path;
}
