import { isList } from '../../codec/kinds.ts';
import type { Key } from '../../engine/protocol/key-value-protocol.ts';
import { KeyError } from '../../errors/key-error.ts';
import { ValueError } from '../../errors/value-error.ts';

/** @throws {ValueError} unless it is a non-empty string. */
export function checkId(id: unknown, place = '_id'): asserts id is string {
  if (typeof id === 'string' && id !== '') return;
  throw new ValueError('id_invalid', `${place} must be a non-empty string.`, { place });
}

/** Checks the type of a key, and copies it; the engine parses it. */
export function checkKey(key: unknown): Key {
  const segments: unknown[] = isList(key) ? [...key] : [key];
  if (segments.every((segment) => typeof segment === 'string' || typeof segment === 'number')) {
    return Array.isArray(key) ? (segments as Key) : (key as Key);
  }
  throw new KeyError('key_invalid', 'A key is a string, a number, or an array of them.', {
    place: 'key',
  });
}
