import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import { decodeValue, type Restored, standIn } from './exact-values.ts';
import { hashJson } from './json-hash.ts';

/**
 * Puts exact values back that an earlier version of Cairn has written: by their paths, where an ISO string or the name of
 * the type stands for each.
 *
 * @param isUntouched Whether no other program has written the document since: else a name that stands for several values
 *   could stand for any of them by now.
 */
export function restorePlaced(
  given: JsonObject,
  { paths, values }: JsonObject,
  isUntouched: boolean,
): Restored {
  const document = structuredClone(given);
  if (!Array.isArray(paths) || !Array.isArray(values) || paths.length !== values.length)
    return { document, lost: [], isDeep: true };
  const lost = new Set<string>();
  const meanings = new Map<string, Set<string>>();
  for (const encoded of values) {
    const name = nameOf(encoded);
    meanings.set(name, (meanings.get(name) ?? new Set()).add(hashJson(encoded)));
  }
  for (const [index, path] of paths.entries()) {
    const place = Array.isArray(path) ? placeOf(document, path) : undefined;
    const name = nameOf(values[index]);
    if (place?.holder[place.key] !== name) continue;
    const decoded = decodeValue(values[index]);
    if (decoded && (isUntouched || meanings.get(name)?.size === 1))
      place.holder[place.key] = decoded.value;
    else lost.add(name);
  }
  return { document, lost: [...lost], isDeep: true };
}

/** What stands for a value. */
function nameOf(encoded: unknown): string {
  return standIn(decodeValue(encoded)?.value, encoded).replace(/:[0-9a-f]{8}$/, '');
}

/** The last step of a path, and the object or array that has it. */
function placeOf(
  document: JsonObject,
  path: readonly unknown[],
): { readonly holder: Record<string, unknown>; readonly key: string } | undefined {
  let holder: unknown = document;
  for (const [index, step] of path.entries()) {
    if (typeof holder !== 'object' || holder === null) return undefined;
    const key = String(step);
    if (!Object.hasOwn(holder, key)) return undefined;
    if (index === path.length - 1) return { holder: holder as Record<string, unknown>, key };
    holder = (holder as JsonObject)[key];
  }
  return undefined;
}
