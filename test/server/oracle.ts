import type { StoreRow } from '../../src/server/index.ts';

interface OracleRow {
  readonly version: string;
  /** JSON, or `null` for a tombstone. */
  readonly json: string | null;
  /** All accepted pushes, oldest first. */
  readonly made: readonly { readonly key: string; readonly version: string }[];
}

/** What a store must do, naively: no numbers, no epochs, no paging. */
export class Oracle {
  readonly rows: Map<string, OracleRow>;
  /** Versions of all histories: none may name two states. */
  readonly #versions: Set<string>;

  constructor(rows: Iterable<[string, OracleRow]> = [], versions = new Set<string>()) {
    this.rows = new Map(rows);
    this.#versions = versions;
  }

  copy(): Oracle {
    return new Oracle(this.rows, this.#versions);
  }

  versionsOf(id: string): string[] {
    return (this.rows.get(id)?.made ?? []).map(({ version }) => version);
  }

  /**
   * The result that a store must return; `made` is the version that it chose for an accepted row.
   */
  push({ id, base, key, document, seen }: StoreRow, result: unknown): unknown {
    const row = this.rows.get(id);
    const last = row?.made.slice(-8) ?? [];
    const before = last.find((each) => each.key === key);
    const json = row?.json ?? null;
    if (row && before) {
      const isNewest = last.at(-1) === before;
      if (isNewest || json === null) return { version: before.version };
      return { version: row.version, document: JSON.parse(json), made: before.version };
    }
    const version = row?.version ?? '0';
    if (seen !== undefined && seen !== version) return { stale: true };
    if (document === undefined && json === null) return { version };
    const isNew = (base === undefined || base === '0') && json === null;
    if (base !== version && !isNew) return { conflict: this.changeOf(id) };
    const made = (result as { version?: string }).version ?? 'no version';
    if (this.#versions.has(made)) throw new Error(`the version ${made} names two states`);
    this.#versions.add(made);
    this.rows.set(id, {
      version: made,
      json: document === undefined ? null : JSON.stringify(document),
      made: [...(row?.made ?? []), { key, version: made }],
    });
    return { version: made };
  }

  changeOf(id: string): object {
    const row = this.rows.get(id);
    if (!row) return { id, version: '0', deleted: true };
    const change = { id, version: row.version, key: row.made.at(-1)?.key };
    return row.json === null
      ? { ...change, deleted: true }
      : { ...change, document: JSON.parse(row.json) };
  }

  /** The newest state of each document. */
  changes(): Map<string, object> {
    return new Map(Array.from(this.rows.keys(), (id) => [id, this.changeOf(id)]));
  }
}
