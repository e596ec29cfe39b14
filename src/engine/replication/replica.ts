import { type Coroutine, run } from '../../async/coroutine.ts';
import { asCairnError } from '../../errors/errors.ts';
import type { RecordState } from '../../protocol/record-states.ts';
import type {
  Push,
  ReplicaReport,
  ReplicaState,
  ScopeState,
} from '../../protocol/replica-protocol.ts';
import type { RequestedPatch } from '../../protocol/requests.ts';
import type { Operation } from '../../query/update/late-update.ts';
import { hiddenName } from '../../storage/collection-name.ts';
import type { StorageOperation } from '../../storage/drivers/driver.ts';
import { noManifest, removalOf } from '../../storage/log/manifest.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collection-context.ts';
import { heldIn, heldText, type NumberedScopes, renewed } from './held-version.ts';
import {
  FIRST,
  operationsIn,
  operationsSince,
  ReplicaLog,
  type ReplicaLogEntry,
  withMore,
} from './replica-log.ts';
import { type ReplicaTracker, recordStateOf } from './replica-tracker.ts';

/** Pushes of a document that are kept: a server remembers so many keys. */
const MOST_PUSHES = 8;

/**
 * Characters of a replica's name that its versions begin with: those of an earlier replica do not
 * count.
 */
const TAG_LENGTH = 6;

/** The state as it is stored. */
interface KeptState extends ReplicaState, NumberedScopes {
  /** Why the server refused a document, by id. */
  readonly rejected: readonly (readonly [id: string, reason: string])[];
  /** The replacement of all records that is entered, as {@link SegmentLog.replicated}. */
  readonly replacement: number;
}

/**
 * What a replicated collection knows of its server: which version each document derives from, and
 * which documents have changed since.
 *
 * A document that equals the server's has that version in its record, or in an entry of the log if
 * the record was stored before. A changed one has an entry with the version and the server's state,
 * so that changes can be merged. A document without either was never on the server.
 * docs/decisions/024-replication.md has the reasons.
 */
export class Replica implements ReplicaTracker {
  readonly log: ReplicaLog;
  /** Documents that differ from the server's, those included that it refused. */
  readonly dirty = new Set<string>();
  readonly #context: CollectionContext;
  #state: KeptState | undefined;
  /** {@link KeptState.rejected} by id. */
  #rejected = new Map<string, string>();
  #isApplying = false;
  #reported = 0;
  #asked = 0;
  /** Names this opening of the collection. */
  readonly opening: string;
  #report: unknown;
  /** What the last push of a document has sent, while it has not changed since, by id. */
  readonly #sent = new Map<string, RecordState | undefined>();
  /** Documents that no scope may have, since they were looked for; `undefined`: any. */
  #strays: Set<string> | undefined;
  /** Versions that are bases and have to be read first, by id. */
  readonly unread = new Map<string, StoredRecord>();

  constructor(context: CollectionContext) {
    this.#context = context;
    this.log = new ReplicaLog(context);
    this.opening = context.newId(8);
  }

  /** The collection must be open. */
  async open(): Promise<void> {
    await this.log.open();
    this.#state = this.log.state as KeptState;
    this.#rejected = new Map(this.#state.rejected);
    for (const { key, remoteVersion } of this.#context.records.list())
      if (!this.#isOwn(remoteVersion)) this.dirty.add(key);
    for (const id of this.log.ids()) this.dirty[this.log.get(id)?.isDirty ? 'add' : 'delete'](id);
    await run(this.#findSent());
    const { replicated } = this.#context.records.log;
    if (this.state.replacement !== replicated) this.#forget(replicated);
  }

  *#findSent(): Coroutine<void> {
    const { records } = this.#context;
    for (const id of this.log.ids('p')) {
      const record = records.table.get(id);
      if (this.log.pushes(id).at(-1)?.[1] === undefined)
        this.#sent.set(id, record && recordStateOf(record, yield* records.bodies.of(record)));
    }
  }

  /** A crash came between replacement and entry: compares all but known changes anew. */
  #forget(replacement: number): void {
    for (const id of [...this.#context.records.table.keys(), ...this.log.ids()]) {
      const isForgotten = !this.#sent.has(id);
      if (!isForgotten || !this.log.get(id)?.isDirty)
        this.enter(id, { version: undefined, isDirty: true, base: undefined, isForgotten });
    }
    this.state = renewed({ ...this.state, replacement, checkpoint: undefined });
  }

  /** Begins: every document is new for the server. The log must be empty. */
  begin(state: KeptState): void {
    this.state = state;
    for (const key of this.#context.records.table.keys()) this.dirty.add(key);
  }

  /** Whether nothing is the server's; documents may have been, before a `stop()` that forgets. */
  get isNew(): boolean {
    const isEntered = (['d', 'p'] as const).some((kind) => !this.log.ids(kind).next().done);
    if (this.state.checkpoint !== undefined || this.state.scopes || isEntered) return false;
    return this.#context.records.table.size === 0;
  }

  get state(): KeptState {
    return this.#state as KeptState;
  }

  /** Saved with the changes of the same turn. */
  set state(state: KeptState) {
    this.#state = state;
    this.log.state = state;
    this.#link();
  }

  /** The server's version that a document derives from. */
  versionOf(id: string, record?: StoredRecord): string | undefined {
    return this.#heldOf(id, record)?.version;
  }

  /** The scopes that have a document, of those that there are. */
  scopesOf(id: string, record?: StoredRecord): readonly string[] {
    const { scopes } = this.state;
    if (!scopes) return [];
    const held = this.#heldOf(id, record)?.scopes ?? [];
    return held.filter((scope) => scopes.some((one) => one.id === scope));
  }

  #heldOf(id: string, record = this.#context.records.table.get(id)) {
    const entry = this.log.get(id);
    if (entry) return entry;
    const held = record?.remoteVersion;
    return this.#isOwn(held) ? heldIn(held.slice(TAG_LENGTH)) : undefined;
  }

  /** The value of {@link StoredRecord.remoteVersion} for a version. */
  tagged = (version: string, scopes: readonly string[]) =>
    this.#tag + heldText({ version, scopes });

  setScopes(id: string, scopes: readonly string[]): void {
    const version = this.versionOf(id);
    if (version === undefined || String(scopes) === String(this.scopesOf(id))) return;
    const { isDirty = false, base } = this.log.get(id) ?? {};
    this.enter(id, { version, scopes, isDirty, base }, false);
  }

  /**
   * Takes the scopes of `replicate()`. Those that were added go when their time has come.
   *
   * @param given `undefined`: the whole collection.
   */
  openScopes(given: readonly string[] | undefined, now: number): void {
    if (!given !== !this.state.scopes) {
      this.state = { ...this.state, scopes: given && [], checkpoint: undefined };
      this.#strays = undefined;
    }
    this.#keepScopes(
      ({ name, until = Number.POSITIVE_INFINITY, isGiven }) =>
        given?.includes(name) || (!isGiven && until > now),
    );
    for (const name of given ?? []) this.addScope(name, { isGiven: true });
  }

  /** Adds a scope, or changes until when it stays. */
  addScope(name: string, how: Pick<ScopeState, 'until' | 'isGiven'>): void {
    const { scopes = [], last = 0 } = this.state;
    const known = scopes.find((one) => one.name === name);
    if (known?.isGiven) return;
    const scope = { checkpoint: undefined, id: `${last + 1}`, ...known, name, ...how };
    const others = scopes.filter((one) => one !== known);
    this.state = { ...this.state, scopes: [...others, scope], last: last + 1 };
  }

  removeScope(name: string): void {
    this.#keepScopes((one) => one.name !== name || one.isGiven);
  }

  #keepScopes(test: (scope: ScopeState) => boolean | undefined): void {
    const { scopes = [] } = this.state;
    const kept = scopes.filter(test);
    if (kept.length === scopes.length) return;
    this.state = { ...this.state, scopes: kept };
    this.#strays = undefined;
  }

  setCheckpoint(checkpoint: string, scope: string | undefined): void {
    const { scopes } = this.state;
    const moved = scopes?.map((one) => (one.id === scope ? { ...one, checkpoint } : one));
    this.state = { ...this.state, ...(scope === undefined ? { checkpoint } : { scopes: moved }) };
  }

  /** Documents that equal the server's, and that no scope has; each once. */
  takeStrays(): string[] {
    // One that was added meanwhile is pulled next: it may have what others do not.
    if (this.state.scopes?.some(({ checkpoint }) => checkpoint === undefined)) return [];
    const ids = this.#strays ?? new Set([...this.#context.records.table.keys(), ...this.log.ids()]);
    this.#strays = new Set();
    return [...ids].filter((id) => !this.dirty.has(id) && this.scopesOf(id).length === 0);
  }

  noteStray(id: string): void {
    this.#strays?.add(id);
  }

  get #tag(): string {
    return this.state.replica.slice(0, TAG_LENGTH);
  }

  #isOwn(version: string | undefined): version is string {
    return version?.startsWith(this.#tag) === true;
  }

  /** Where it stands; with a report of the page that replicates, or a request for a round. */
  report({ report, asks }: { readonly report?: unknown; readonly asks?: boolean }): ReplicaReport {
    if (asks) this.#asked++;
    if (report !== undefined) this.#report = report;
    if (asks || report !== undefined) this.#tell();
    return { collection: this.#context.settings.name, ...this.standing };
  }

  settle(): void {
    if (this.standing.pending !== this.#reported) this.#tell();
    this.log.saves.check();
  }

  get standing(): Omit<ReplicaReport, 'collection'> {
    const { size } = this.#rejected;
    return {
      pending: this.dirty.size - size,
      rejected: size,
      asked: this.#asked,
      opening: this.opening,
      report: this.#report,
    };
  }

  #tell(): void {
    this.#reported = this.standing.pending;
    this.#context.events.tell('replication', this.standing);
  }

  note(id: string, before: StoredRecord | undefined, patches?: readonly RequestedPatch[]): void {
    if (this.#isApplying) return;
    this.accept(id);
    this.#keepSent(id);
    const { isDirty, isForgotten } = this.log.get(id) ?? {};
    if (!isDirty || isForgotten) this.#noteChange(id, before, isForgotten);
    if (patches) this.#noteOperations(id, operationsIn(patches));
  }

  #noteChange(id: string, before: StoredRecord | undefined, isKnown?: boolean): void {
    const version = this.versionOf(id, before);
    if (version === undefined && !isKnown) {
      this.#noteNew(id);
      return;
    }
    if (before && before.body === undefined) this.#readLater(id, before);
    const base = before?.body === undefined ? undefined : recordStateOf(before, before.body);
    this.enter(id, { version, scopes: this.scopesOf(id, before), isDirty: true, base }, false);
  }

  #noteOperations(id: string, operations: readonly Operation[]): void {
    const pushes = this.log.pushes(id);
    // What the server never had is pushed as a whole.
    if (operations.length === 0 || (!this.log.get(id) && pushes.length === 0)) return;
    const [last = FIRST] = pushes.at(-1) ?? [];
    this.log.setOperations(id, withMore(this.log.operations(id) ?? {}, last, operations));
    this.#link();
  }

  /** The operations on a document since a push of it, or since the server's state. */
  operationsSince(id: string, push = FIRST): readonly Operation[] {
    const keys = this.log.pushes(id).map(([key]) => key);
    return operationsSince(this.log.operations(id) ?? {}, keys, push);
  }

  /** Enters the operations since the server's state, which is another one by now. */
  setOperations(id: string, since: readonly Operation[] = []): void {
    if (since.length > 0) this.log.setOperations(id, { [FIRST]: { since } });
  }

  expire(id: string): boolean {
    if (this.dirty.has(id) && this.refusal(id) === undefined) return false;
    // A new one that the server refused is dirty without an entry.
    if (this.dirty.has(id) || this.log.get(id)) this.equals(id);
    return true;
  }

  /**
   * That is a local change of each document that differs, unless it has expired by now. With scopes
   * none is deleted: the server may have those that are gone in a scope of another time.
   */
  noteReplacement(replaced: readonly StoredRecord[]): void {
    const { records } = this.#context;
    const before = new Map(replaced.map((record) => [record.key, record]));
    for (const key of new Set([...before.keys(), ...records.keys()])) {
      const was = before.get(key);
      const now = records.table.get(key);
      if (!now && this.state.scopes && this.versionOf(key, was) !== undefined) this.equals(key);
      else if (was?.segment !== now?.segment || was?.index !== now?.index) this.note(key, was);
    }
    this.state = renewed({ ...this.state, replacement: records.log.replicated });
    this.#strays = undefined;
    this.report({ asks: true });
  }

  /**
   * That is no local change, as each device migrates its documents by itself; what is gone stays on
   * the server.
   */
  noteMigration(migrated: readonly StoredRecord[]): void {
    const { records } = this.#context;
    for (const id of [...this.#sent.keys()]) this.#keepSent(id);
    for (const { key } of migrated) if (!records.table.get(key)) this.equals(key);
  }

  /** Applies states of the server: they are no local changes. */
  applying<T>(apply: () => T): T {
    this.#isApplying = true;
    try {
      return apply();
    } finally {
      this.#isApplying = false;
    }
  }

  /**
   * Enters a document that differs from its record's version, or from the server's.
   *
   * @param isAnswered Whether none of its pushes can be made any more.
   */
  enter(
    id: string,
    entry: Omit<ReplicaLogEntry, 'scopes'> & Partial<ReplicaLogEntry>,
    isAnswered = true,
  ): void {
    if (isAnswered) this.#forgetBase(id);
    this.log.put(id, { scopes: this.scopesOf(id), ...entry });
    this.noteStray(id);
    if (entry.isDirty) this.dirty.add(id);
    else this.#clean(id);
    this.#link();
  }

  /** Whether the state of a document has been pushed. */
  isSent(id: string): boolean {
    return this.#sent.has(id);
  }

  /**
   * Notes that a document is pushed: the same state again has the same key. To be saved before it
   * is sent.
   *
   * @param sent The operations that the server may apply to what it has.
   */
  pushing(
    id: string,
    state: RecordState | undefined,
    sent: readonly Operation[] | undefined,
  ): void {
    const key = this.#context.newId(12);
    const pushes: Push[] = [...this.log.pushes(id), [key]];
    let operations = this.log.operations(id);
    // The first push is the likeliest one that the server has made.
    if (pushes.length > MOST_PUSHES) {
      const [[dropped]] = pushes.splice(1, 1) as [Push];
      const { since = [] } = operations?.[dropped] ?? {};
      if (operations) operations = withMore(operations, (pushes[0] as Push)[0], since);
    }
    if (sent) operations = { ...operations, [key]: { sent, since: [] } };
    this.log.setOperations(id, operations);
    this.log.setPushes(id, pushes);
    this.#sent.set(id, state);
  }

  /** Notes what the last push has sent: the document changes. */
  #keepSent(id: string): void {
    if (!this.#sent.has(id)) return;
    const state = this.#sent.get(id) ?? null;
    this.#sent.delete(id);
    this.log.setPushes(
      id,
      this.log.pushes(id).map(([key, sent = state]) => [key, sent]),
    );
    this.#link();
  }

  #forgetBase(id: string): void {
    this.unread.delete(id);
    this.log.setPushes(id, []);
    this.log.setOperations(id, undefined);
    this.#sent.delete(id);
  }

  #clean(id: string): void {
    this.dirty.delete(id);
    this.accept(id);
  }

  /** The document equals the version in its record, or is gone on both sides. */
  equals(id: string): void {
    this.#forgetBase(id);
    this.log.delete(id);
    this.#clean(id);
    this.#link();
  }

  /** Why the server refused a document. */
  refusal(id: string): string | undefined {
    return this.#rejected.get(id);
  }

  /** Notes why the server refused documents, by id. */
  refuse(reasons: KeptState['rejected']): void {
    for (const [id, reason] of reasons) this.#rejected.set(id, reason);
    if (reasons.length > 0) this.state = { ...this.state, rejected: [...this.#rejected] };
  }

  /** Forgets that the server refused a document. */
  accept(id: string): void {
    if (this.#rejected.delete(id)) this.state = { ...this.state, rejected: [...this.#rejected] };
  }

  save(): Promise<void> {
    return this.log.saves.flush();
  }

  leave(outcome?: Promise<void>): Promise<void> {
    return this.log.saves.leave(outcome);
  }

  resume(): void {
    this.log.saves.resume();
  }

  removal(): StorageOperation[] {
    const name = hiddenName('replica', this.#context.settings.name);
    return [...removalOf(name), noManifest(name)];
  }

  /** Notes a change of a document that the server has not answered for. */
  #noteNew(id: string): void {
    const record = this.#context.records.table.get(id);
    // A stored record may have a version of an earlier time.
    const isNew = record ? this.#isOwn(record.remoteVersion) : this.log.pushes(id).length > 0;
    if (isNew) this.enter(id, { version: undefined, isDirty: true, base: undefined }, false);
    else if (record) this.dirty.add(id);
    else this.#clean(id);
  }

  /** Saved together: no change without its entry, no checkpoint without its rows. */
  #link(): void {
    this.#context.links.link([this.#context.saves, this.log.saves]);
  }

  /** Reads a base from its segment: a save without it would lose it. */
  #readLater(id: string, base: StoredRecord): void {
    if (this.unread.set(id, base).size === 1) this.log.saves.hold(this.#readAll());
  }

  async #readAll(): Promise<void> {
    const { records, events } = this.#context;
    // Compaction would remove the replaced versions.
    const release = records.pin();
    for (const [id, base] of this.unread) {
      try {
        const body = await run(records.bodies.of(base));
        if (this.unread.get(id) !== base) continue;
        const entry = this.log.get(id) as ReplicaLogEntry;
        this.enter(id, { ...entry, base: recordStateOf(base, body) }, false);
      } catch (error) {
        events.failed(asCairnError(error));
      }
      if (this.unread.get(id) === base) this.unread.delete(id);
    }
    release();
  }
}
