import type { ScopeState } from '../../protocol/replica-protocol.ts';

/** A version of the server that a document derives from, and the scopes that have the document. */
export interface HeldVersion {
  readonly version: string;
  /** The ids of scopes; none where the whole collection replicates. */
  readonly scopes: readonly string[];
}

/** Begins a text that names scopes: they follow, this again, and the version. */
const MARK = '\0';

/** As one text, so that the scopes of a pulled document cost no second record. */
export function heldText({ version, scopes }: HeldVersion): string {
  return scopes.length > 0 || version.startsWith(MARK)
    ? `${MARK}${scopes}${MARK}${version}`
    : version;
}

export function heldIn(text: string): HeldVersion {
  if (!text.startsWith(MARK)) return { version: text, scopes: [] };
  const end = text.indexOf(MARK, 1);
  const scopes = text.slice(1, end);
  return { version: text.slice(end + 1), scopes: scopes ? scopes.split(',') : [] };
}

export interface NumberedScopes {
  readonly scopes?: readonly ScopeState[] | undefined;
  /** Scopes so far: each has a number. */
  readonly last?: number;
}

/** The scopes under new ids: each is pulled anew, and has what comes then alone. */
export function renewed<S extends NumberedScopes>(state: S): S {
  let { scopes, last = 0 } = state;
  scopes = scopes?.map((one) => ({ ...one, id: `${++last}`, checkpoint: undefined }));
  return { ...state, scopes, last };
}

/** Where the numbers of `numberedVersion()` end, in the replication of encrypted documents. */
const LIFE_END = 13;
const REVISION_END = 23;

/**
 * Whether a version is an earlier state of the same life of a document. Only versions that devices
 * have numbered tell: a server that cannot read documents could send an older one again.
 *
 * @param heldOf The version that is here; called for numbered versions alone.
 */
export function isEarlier(version: string | undefined, heldOf: () => string | undefined): boolean {
  if (!version?.startsWith('\u0001')) return false;
  const held = heldOf() ?? '';
  return (
    version.slice(0, LIFE_END) === held.slice(0, LIFE_END) &&
    version.slice(0, REVISION_END) < held.slice(0, REVISION_END)
  );
}
