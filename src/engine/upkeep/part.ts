import type { CollectionSettings } from '../../protocol/settings.ts';
import { STAMPS } from '../../storage/segments/stored-record.ts';

export { tidyLog } from '../../storage/log/compact-log.ts';
export { ExpirySweep } from '../expiry/expiry-sweep.ts';
export { CheckpointWork } from '../first-reads/checkpoint-work.ts';

/**
 * Warns of a handle whose stamp options or `expire_after` differ from those of the handle that
 * opened the collection.
 *
 * @param warned Warnings so far: one of each kind.
 */
export function warnOfOptions(
  open: CollectionSettings,
  given: CollectionSettings,
  warned: Set<string>,
): void {
  const compare = (optionsOf: (settings: CollectionSettings) => string, options: string): void => {
    const kept = optionsOf(open);
    const ignored = optionsOf(given);
    if (kept === ignored || warned.has(ignored)) return;
    warned.add(ignored);
    console.warn(
      `cairndb: collection "${open.name}" is open with ${kept}. A second handle was given ${ignored}, which has no effect while it is open. Pass the same ${options} everywhere, and reload tabs that run an older version.`,
    );
  };
  compare(stampsOf, 'indicate_* options');
  compare(expiryOf, 'expire_after');
}

function expiryOf({ expire_after: given }: CollectionSettings): string {
  if (!given) return 'no expire_after';
  return `expire_after: { field: '${given.field}', seconds: ${given.seconds} }`;
}

/** The stamp options that are on, as the caller writes them. */
function stampsOf(settings: CollectionSettings): string {
  const on = STAMPS.flatMap(({ setting }) => {
    const { at, timestamp } = settings[setting];
    return [
      ...(at ? [`indicate_${setting}_at`] : []),
      ...(timestamp ? [`indicate_${setting}_timestamp`] : []),
    ];
  });
  return on.length > 0 ? on.join(', ') : 'no indicate_* option';
}
