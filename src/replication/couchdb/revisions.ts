/** A revision of a document: `3-917fa23…`; the number counts the edits. */
const REVISION = /^(\d{1,15})-[\x21-\x7e]{1,150}$/;

/** Before the revision in versions of documents with attachments. */
const ATTACHED = 'att+';

/** The version of a document that the database does not have, not even as a tombstone. */
export const NO_REVISION = 'absent';

export function isRevision(value: unknown): value is string {
  return typeof value === 'string' && REVISION.test(value);
}

/** How many edits led to a revision. */
export function generationOf(revision: string): number {
  return Number.parseInt(revision, 10);
}

/** The generation of an edit of a revision; without one, of a new document. */
export function nextGeneration(base: string | undefined): number {
  return base === undefined ? 1 : generationOf(base) + 1;
}

/**
 * The version that Cairn keeps of a state. It tells whether there are attachments: an update has to
 * name them, or CouchDB deletes them, and only these updates have to look for them first.
 */
export function versionOf(revision: string, hasAttachments: boolean): string {
  return hasAttachments ? ATTACHED + revision : revision;
}

/** The revision of a version; `undefined` if the database had no such document. */
export function revisionOf(version: string | undefined): string | undefined {
  if (version === undefined || version === NO_REVISION) return undefined;
  return version.startsWith(ATTACHED) ? version.slice(ATTACHED.length) : version;
}

export function hasAttachments(version: string | undefined): boolean {
  return version?.startsWith(ATTACHED) === true;
}

/** Orders revisions as CouchDB does to find the winner, which is the last. */
export function compareRevisions(a: string, b: string): number {
  const generations = generationOf(a) - generationOf(b);
  if (generations !== 0) return generations;
  return a < b ? -1 : Number(a > b);
}
