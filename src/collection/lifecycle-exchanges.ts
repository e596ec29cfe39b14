import type { CollectionSettings } from '../engine/settings.ts';
import { CollectionError } from '../errors/collection-error.ts';
import { ask, type Exchange } from './exchange.ts';

/** Resolves once the collection is open, and in memory if it is cached. */
export function* ready(): Exchange<void> {
  yield* ask({ op: 'ready' });
}

export function* save(): Exchange<void> {
  yield* ask({ op: 'save' });
}

export function* drop({ name, activate_drop_method }: CollectionSettings): Exchange<true> {
  if (!activate_drop_method) {
    throw new CollectionError(
      'drop_disabled',
      `Drop() of collection "${name}" is not enabled; construct it with activate_drop_method: true.`,
      { place: name },
    );
  }
  return yield* ask({ op: 'drop' });
}
