import * as Y from 'yjs';

/** Whether these bytes are an update of version 1. */
export function isUpdate(update: unknown): update is Uint8Array {
  if (!(update instanceof Uint8Array)) return false;
  try {
    const { structs, ds } = Y.decodeUpdate(update);
    // One of version 2 begins with zeros, which read as nothing.
    return structs.length > 0 || ds.clients.size > 0 || update.length === 2;
  } catch {
    return false;
  }
}

/** What a Y.Doc has that these rows have not; `undefined`: nothing. */
export function missingUpdate(
  doc: Y.Doc,
  rows: readonly { readonly update: Uint8Array }[],
): Uint8Array | undefined {
  const stored = new Y.Doc({ gc: false });
  for (const { update } of rows) Y.applyUpdate(stored, update);
  let missing: Uint8Array | undefined;
  // Yjs tells of it only if something is new.
  stored.on('update', (update: Uint8Array) => {
    missing = update;
  });
  Y.applyUpdate(stored, Y.encodeStateAsUpdate(doc));
  stored.destroy();
  return missing;
}

/** So many rows are worth a merge. */
const MANY = 64;
/** In bytes. A row has to pass the limits of servers, and is written anew as a whole. */
const LARGEST = 1_000_000;
const SMALL = 4096;

type HasUpdate = { readonly update: Uint8Array };

/** The smallest rows, as many as one row may hold. */
export function rowsThatFit<R extends HasUpdate>(all: readonly R[], growth = Infinity): R[] {
  const rows: R[] = [];
  let bytes = 0;
  for (const row of [...all].sort((a, b) => a.update.length - b.update.length)) {
    const { length } = row.update;
    if (length > growth * (bytes + SMALL) || bytes + length > LARGEST) break;
    rows.push(row);
    bytes += length;
  }
  return rows;
}

/**
 * The rows to merge after an edit; none, until there are many. A row that is much larger than all
 * smaller ones together stays: so each byte is written anew a few times only, in a long text too.
 */
export function rowsWorthMerging<R extends HasUpdate>(all: readonly R[]): readonly R[] {
  const rows = rowsThatFit(all, 2);
  return rows.length < MANY ? [] : rows;
}
