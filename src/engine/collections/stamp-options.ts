import { STAMPS } from '../../storage/segments/managed-fields.ts';
import type { CollectionSettings } from '../protocol/settings.ts';

/**
 * The warning for a handle whose stamp options differ from those of the handle that opened the collection;
 * `undefined` where they are the same.
 */
export function stampConflict(
  open: CollectionSettings,
  given: CollectionSettings,
): string | undefined {
  const [kept, ignored] = [optionsOf(open), optionsOf(given)];
  if (kept === ignored) return undefined;
  return `cairndb: collection "${open.name}" is open with ${kept}. A second handle was given ${ignored}, which has no effect while it is open. Pass the same indicate_* options everywhere, and reload tabs that run an older version.`;
}

/** The stamp options that are on, as the caller writes them. */
function optionsOf(settings: CollectionSettings): string {
  const on = STAMPS.flatMap(({ setting }) => {
    const { at, timestamp } = settings[setting];
    return [
      ...(at ? [`indicate_${setting}_at`] : []),
      ...(timestamp ? [`indicate_${setting}_timestamp`] : []),
    ];
  });
  return on.length > 0 ? on.join(', ') : 'no indicate_* option';
}
