import type { Coroutine } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { sameBody } from '../../codec/same-value.ts';
import type { LiveUpdate } from '../../protocol/live-protocol.ts';
import type { Selection } from '../../protocol/requests.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { managedOf } from '../documents/collection-versions.ts';
import { type CompiledSelection, compileSelection } from '../find/compiled-selection.ts';
import { DocumentQuery } from '../find/query.ts';
import { columnsOfRecords, type Records } from '../records/record-store.ts';

/** Returns the body of a changed version. */
export type BodyOf = (record: StoredRecord) => Body;

/** The result of a live query, and the state that its reader has. */
export interface MaintainedResult {
  /** Least milliseconds between two results, where they are dear. */
  readonly throttle?: number;
  /**
   * Updates the result from the records of these keys. @returns whether the reader may see a
   * difference.
   */
  update(keys: ReadonlySet<string>, bodyOf: BodyOf): boolean;
  /** Must be called when all records were replaced. Keeps the reader's state, to compare with. */
  reload(): void;
  /**
   * The next update; `undefined` if the reader's state is current. A computation that waits goes on
   * with the versions it began with: their segments must stay pinned.
   */
  next(): Coroutine<LiveUpdate | undefined>;
  /** Of a query that shows other collections too. */
  readonly sources?: readonly Records[];
  /** Must be called when the reader ends. */
  end?(): void;
}

/** The number of matching documents. */
export class CountResult implements MaintainedResult {
  readonly #context: OperationContext;
  readonly #selection: Selection;
  readonly #compiled: CompiledSelection;
  readonly #members = new Set<string>();
  /** The count that the reader has; `undefined` before the first. */
  #delivered: number | undefined;
  #loaded = false;

  constructor(context: OperationContext, selection: Selection) {
    this.#context = context;
    this.#selection = selection;
    this.#compiled = compileSelection(context, selection);
  }

  update(keys: ReadonlySet<string>, bodyOf: BodyOf): boolean {
    const { isOfKind, test } = this.#compiled;
    for (const key of keys) {
      const record = this.#context.records.get(key);
      if (record && isOfKind(record) && (!test || test(record, bodyOf(record)))) {
        this.#members.add(key);
      } else this.#members.delete(key);
    }
    return this.#members.size !== this.#delivered;
  }

  reload(): void {
    this.#loaded = false;
  }

  *next(): Coroutine<LiveUpdate | undefined> {
    if (!this.#loaded) {
      this.#loaded = true;
      this.#members.clear();
      const { clock, aborts } = this.#context;
      const query = new DocumentQuery(this.#context, this.#selection, new Pace(clock, aborts));
      for (const { key } of yield* query.records()) this.#members.add(key);
    }
    if (this.#delivered === this.#members.size) return undefined;
    this.#delivered = this.#members.size;
    return { count: this.#delivered };
  }
}

/** One record: a list of one or none. */
export class ItemResult implements MaintainedResult {
  readonly #records: Records;
  readonly #key: string;
  /**
   * What the reader has, `undefined` before the first: the managed values and the body, where there
   * is a value.
   */
  #delivered: { readonly managed: string; readonly body: Body | undefined } | undefined;

  constructor(records: Records, key: string) {
    this.#records = records;
    this.#key = key;
  }

  update(keys: ReadonlySet<string>): boolean {
    return keys.has(this.#key);
  }

  reload(): void {
    // It looks at the record each time.
  }

  *next(): Coroutine<LiveUpdate | undefined> {
    const record = this.#records.get(this.#key);
    const body = record && this.shown(yield* this.#records.bodies.of(record));
    const before = this.#delivered;
    const there = record !== undefined && body !== undefined;
    const managed = there ? managedOf(record) : '';
    if (before?.managed === managed && (!there || sameBody(before.body, body))) return undefined;
    this.#delivered = { managed, body };
    return {
      removed: before?.managed ? [0] : [],
      indexes: there ? [0] : [],
      ...columnsOfRecords(there ? [record] : []),
      bodies: there ? [body] : [],
      records: there ? [record] : [],
      more: false,
    };
  }

  /** What the reader gets of its body. */
  protected shown(whole: Body): Body | undefined {
    return whole;
  }
}
