import type { WireChange, WireResult } from '../replication/protocol/http-answers.ts';
import { isIdTooLong, MAX_ID_BYTES } from '../replication/protocol/http-fields.ts';
import type { ReceivedRow } from '../replication/protocol/http-requests.ts';
import { documentDefect, type WireDocument } from '../replication/protocol/wire-documents.ts';
import type { Access } from './access.ts';
import { ABSENT, type Store, type StoredRow, type StoreResult, type StoreRow } from './store.ts';

/** How often rows are checked anew that others change between the check and the push. */
const ATTEMPTS = 8;

/** Rows whose documents are in memory at once: a small request may name large ones. */
const CHECKED_AT_ONCE = 50;

const rejected = (reason: string): WireResult => ({ rejected: { reason } });
const NOT_ALLOWED = rejected('You may not write this document.');
const TOO_BUSY: WireResult = {
  rejected: { reason: 'Others change this document all the time.', retry: true },
};

/** Pushes rows with the rights of a user; one result for each row. */
export async function pushRows(
  store: Store,
  collection: string,
  rows: readonly ReceivedRow[],
  access: Access,
): Promise<WireResult[]> {
  const push = new Push(store, collection, access);
  const results = rows.map(defectOf);
  let open = rows.flatMap((row, index) => (results[index] ? [] : [{ row: toStore(row), index }]));
  for (let attempt = 0; attempt < ATTEMPTS && open.length > 0; attempt++) {
    const answers = await push.attempt(open.map(({ row }) => row));
    open = open.filter(({ index }, at) => {
      results[index] = answers[at];
      return results[index] === undefined;
    });
  }
  return results.map((result) => result ?? TOO_BUSY);
}

function toStore({ id, base, key, document }: ReceivedRow): StoreRow {
  return { id, base, key, document: document as WireDocument | undefined };
}

/** A row that no server takes. It must not keep the others of its batch from being made. */
function defectOf({ id, document }: ReceivedRow): WireResult | undefined {
  if (isIdTooLong(id)) return rejected(`The id is longer than ${MAX_ID_BYTES} bytes.`);
  const defect = document === undefined ? undefined : documentDefect(document, id);
  return defect === undefined ? undefined : rejected(`The document is invalid: ${defect}.`);
}

class Push {
  readonly #store: Store;
  readonly #collection: string;
  readonly #access: Access;

  constructor(store: Store, collection: string, access: Access) {
    this.#store = store;
    this.#collection = collection;
    this.#access = access;
  }

  /** A result for each row; `undefined` if the row was changed after its check. */
  async attempt(rows: readonly StoreRow[]): Promise<(WireResult | undefined)[]> {
    const checked = await this.#check(rows);
    const allowed = checked.filter((row) => row !== undefined);
    const made = allowed.length > 0 ? await this.#store.push(this.#collection, allowed) : [];
    const results: (WireResult | undefined)[] = [];
    let next = 0;
    for (const [index, row] of checked.entries()) {
      if (!row) results.push(NOT_ALLOWED);
      else
        results.push(
          await this.#visible((rows[index] as StoreRow).id, made[next++] as StoreResult),
        );
    }
    return results;
  }

  /** The rows that the user may write, each with the version that was checked; `undefined` for the others. */
  async #check(rows: readonly StoreRow[]): Promise<(StoreRow | undefined)[]> {
    const { canRead, canWrite } = this.#access;
    if (!canWrite && !canRead) return [...rows];
    const mayMake = async (id: string, document: unknown) => !canWrite || canWrite(id, document);
    // Nobody replaces what is hidden from him, though the pull tells its id and version.
    const mayReplace = async (id: string, document: unknown) =>
      (!canRead || (await canRead(id, document))) && mayMake(id, document);
    const checked: (StoreRow | undefined)[] = [];
    let stored = new Map<string, StoredRow>();
    for (const [index, row] of rows.entries()) {
      if (index % CHECKED_AT_ONCE === 0)
        stored = await this.#stored(rows.slice(index, index + CHECKED_AT_ONCE));
      const { id, key, document } = row;
      const present = stored.get(id);
      // A retry is answered as the first time, whatever became of the document and the user since.
      const allowed =
        present?.keys.includes(key) ||
        ((document === undefined || (await mayMake(id, document))) &&
          (!present?.document || (await mayReplace(id, present.document))));
      checked.push(allowed ? { ...row, seen: present?.version ?? ABSENT } : undefined);
    }
    return checked;
  }

  async #stored(rows: readonly StoreRow[]): Promise<Map<string, StoredRow>> {
    const ids = rows.map(({ id }) => id);
    const stored = await this.#store.read(this.#collection, ids);
    return new Map(stored.map((row) => [row.id, row]));
  }

  /** What the user may see of a result. */
  async #visible(id: string, result: StoreResult): Promise<WireResult | undefined> {
    if ('stale' in result) return undefined;
    if ('rejected' in result) return result;
    if ('conflict' in result)
      return { conflict: await visibleChange(result.conflict, this.#access) };
    const { version, document, made } = result;
    if (document === undefined) return { version };
    const { canRead } = this.#access;
    // Hidden by now: the next pull deletes it.
    if (canRead && !(await canRead(id, document))) return { version: made ?? version };
    return { version, document };
  }
}

/** A change as a user sees it: documents that he may not read are deleted ones. */
export async function visibleChange(change: WireChange, { canRead }: Access): Promise<WireChange> {
  const { id, version, document } = change;
  if (!canRead || document === undefined || (await canRead(id, document))) return change;
  return { id, version, deleted: true };
}
