import { parseFieldPath } from '../../engine/paths/key-path.ts';
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
  const given = new Set<string>();
  for (const { path } of paths) {
    if (given.has(path)) throw conflict(path, `"${shortened(path)}" twice`);
    given.add(path);
  }
  for (const { path, segments } of paths) {
    for (let length = 1; length < segments.length; length++) {
      const outer = segments.slice(0, length).join('.');
      if (!given.has(outer)) continue;
      throw conflict(path, `"${shortened(outer)}" and "${shortened(path)}", which is inside it`);
    }
  }
}

function conflict(path: string, which: string): KeyError {
  const message = `The changes name ${which}; nothing was changed. Give one of them.`;
  return new KeyError('paths_conflict', message, { place: path });
}

function shortened(path: string): string {
  return path.length > 80 ? `${path.slice(0, 80)}…` : path;
}
