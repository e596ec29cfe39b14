import { STAMPS } from '../../storage/segments/managed-fields.ts';
import type { ExpiryRules } from '../expiry/expiry-rules.ts';
import type { CollectionSettings } from '../protocol/settings.ts';

/** Warns of handles whose stamp options or `expire_after` differ from those of the handle that opened the collection. */
export class StampOptions {
  readonly #open: CollectionSettings;
  /** Warnings so far: one of each kind. */
  readonly #warned = new Set<string>();

  constructor(open: CollectionSettings) {
    this.#open = open;
  }

  /** @param expiry The rules of the handle that opened the collection. */
  compare(given: CollectionSettings, expiry: ExpiryRules | undefined): void {
    this.#compare(optionsOf(this.#open), optionsOf(given), 'indicate_* options');
    this.#compare(expiryOf(this.#open), expiryOf(given), 'expire_after');
    if (expiryOf(this.#open) === expiryOf(given)) expiry?.countFor(given.version);
  }

  #compare(kept: string, ignored: string, options: string): void {
    if (kept === ignored || this.#warned.has(ignored)) return;
    this.#warned.add(ignored);
    console.warn(
      `cairndb: collection "${this.#open.name}" is open with ${kept}. A second handle was given ${ignored}, which has no effect while it is open. Pass the same ${options} everywhere, and reload tabs that run an older version.`,
    );
  }
}

function expiryOf({ expire_after: given }: CollectionSettings): string {
  if (!given) return 'no expire_after';
  return `expire_after: { field: '${given.field}', seconds: ${given.seconds} }`;
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
