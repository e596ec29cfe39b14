import { decodeDocument, encodeDocument } from '../../src/codec/exact-json/wire-documents.ts';
import { ReplicationError } from '../../src/errors/replication-error.ts';
import type {
  LocalChange,
  PulledPage,
  PushResult,
  RemoteChange,
  ReplicationScope,
} from '../../src/replication/protocol/remote.ts';
import { mergedDocument } from '../../src/server/routes.ts';
import type { Random } from '../setup/random.ts';
import { tokenOf, tokensIn } from './replication-tokens.ts';
import { plainId, unsealed } from './sealed-documents.ts';

/** A document on the server. */
interface Row {
  readonly change: RemoteChange;
  readonly place: number;
  /** Its state before, if it was there. */
  readonly earlier?: RemoteChange | undefined;
  /** The keys that were accepted last, with the version that each made. */
  readonly keys: readonly (readonly [key: string, version: string])[];
}

interface Copy {
  readonly rows: ReadonlyMap<string, Row>;
  readonly last: number;
}

/** The server keeps so many keys with each document. */
const KEYS = 8;
/** The version of a document that never was. */
const ABSENT = 'none';

/** How a server behaves, beside the rules. */
export interface ServerHabits {
  /** The most documents of a page. */
  readonly page: number;
  /** The longest that a push takes from its number to its commit, in milliseconds. */
  readonly commit: number;
  /** Whether it repeats documents that were in earlier pages. */
  readonly repeats: boolean;
  /** Whether it adds a field to new documents. */
  readonly changes: boolean;
  /** Whether it applies operations to what others have made. */
  readonly merges: boolean;
  /** Whether it refuses documents with a poisoned value. */
  readonly refuses: boolean;
  /** Whether it sends the keys of pushes, only keeps them, or knows none. */
  readonly keys: 'sent' | 'kept' | 'none';
}

/**
 * A server in memory that follows the rules of `Remote` and nothing else; notes what clients do.
 */
export class ReplicationServer {
  /** All tokens that it ever accepted. */
  readonly accepted = new Set<string>();
  /** All states that it ever had, by their versions. */
  readonly states = new Map<string, object>();
  /** Tokens that a restore has removed. */
  readonly lost = new Set<string>();
  /** The documents that a late request has changed. */
  readonly late = new Set<string>();
  /** What must never happen. */
  readonly violations: string[] = [];
  /** Called with the value that the server has added to a document. */
  onAdded: (id: string, token: string) => void = () => undefined;
  /** How often a right to a scope was taken or given, by scope. */
  readonly rights = new Map<string, number>();
  readonly #served = new Map<string, Set<string>>();
  restores = 0;
  /** How often it sends an older state of a document beside others, as if it were new. */
  replays = 0;
  /** Grows with each change. */
  changes = 0;
  readonly #random: Random;
  readonly #habits: ServerHabits;
  readonly #rings = new Set<() => void>();
  readonly #seen = new Set<string>();
  /** The ids of documents as devices have them, where those here are encrypted. */
  readonly #plainIds = new Map<string, string>();
  #rows = new Map<string, Row>();
  #last = 0;
  /** Numbers of pushes that are not committed. */
  readonly #open = new Set<number>();
  readonly #later: (ms: number, call: () => void) => void;
  #copies: Copy[] = [];

  /** @param later Calls back after so many milliseconds. */
  constructor(
    random: Random,
    habits: ServerHabits,
    later: (ms: number, call: () => void) => void = (_, call) => call(),
  ) {
    this.#random = random;
    this.#habits = habits;
    this.#later = later;
  }

  get tellsKeys(): boolean {
    return this.#habits.keys === 'sent';
  }

  get checkpoint(): string {
    return `${this.restores}.${this.#horizon}`;
  }

  /** No push up to this number is open: one that commits late must not be skipped. */
  get #horizon(): number {
    return this.heldBack(this.#open) - 1;
  }

  /** The first number that no reader may pass. */
  heldBack(open: ReadonlySet<number>): number {
    return Math.min(this.#last + 1, ...open);
  }

  pull(after: string | undefined, limit: number, scope?: ReplicationScope): PulledPage<string> {
    if (!scope) return this.#pull(after, limit);
    const name = JSON.stringify(scope);
    const right = this.rights.get(name) ?? 0;
    const isOther = after !== undefined && !after.endsWith(`~${right}`);
    const page = this.#pull(isOther ? undefined : after?.split('~')[0], limit);
    const key = `${name}~${right}~${this.restores}`;
    const served = this.#served.get(key) ?? new Set();
    this.#served.set(key, served);
    const changes = page.changes.flatMap((change): RemoteChange[] => {
      const { id, version, document } = change;
      if (right % 2 === 0 && document && isIn(document, scope)) {
        served.add(id);
        return [change];
      }
      if (!served.has(id)) return [];
      return [document ? { id, version, left: true } : change];
    });
    const reset = isOther || page.reset;
    return {
      ...{ changes, checkpoint: `${page.checkpoint}~${right}`, more: page.more },
      ...(reset && { reset: true }),
    };
  }

  #pull(after: string | undefined, limit: number): PulledPage<string> {
    const [epoch, seq] = (after ?? this.checkpoint).split('.').map(Number) as [number, number];
    const reset = epoch !== this.restores || seq > this.#last;
    const from = after === undefined || reset ? 0 : seq;
    const horizon = this.#horizon;
    const inOrder = [...this.#rows.values()]
      .filter(({ place }) => place <= horizon)
      .sort((a, b) => a.place - b.place);
    const news = inOrder.filter(({ place }) => place > from);
    const page = news.slice(0, Math.min(limit, this.#habits.page));
    const known = inOrder.filter(({ place }) => place <= (page.at(-1)?.place ?? from));
    const again =
      this.#habits.repeats && !reset && after !== undefined && known.length > 0
        ? [this.#random.pick(known)]
        : [];
    // Of what the page has had: it cannot tell an older one from a newer one without any.
    const replayed = known.filter((row) => row.earlier && row.place <= from);
    const older =
      replayed.length > 0 && this.#random.chance(this.replays)
        ? [{ change: this.#random.pick(replayed).earlier as RemoteChange }]
        : [];
    // Never more than requested: `graphql()` looks for one.
    const before = [...again, ...older].slice(0, limit - page.length);
    const behind = again.slice(0, limit - page.length - before.length);
    const more = page.length < news.length;
    const last = more ? (page.at(-1) as Row).place : horizon;
    return {
      changes: [...before, ...page, ...behind].map(({ change }) => this.#sendable(change)),
      checkpoint: `${this.restores}.${last}`,
      more,
      ...(reset && { reset }),
    };
  }

  /** Begins a push: it takes its numbers now, and is made when it commits. */
  begin(rows: readonly LocalChange[], commit: (first: number) => void): void {
    const first = this.#take(rows.length);
    // Without rows it takes no number: the next push has that one.
    if (this.#habits.commit === 0 || rows.length === 0) {
      commit(first);
      return;
    }
    const { restores } = this;
    this.#open.add(first);
    this.#later(this.#random.between(0, this.#habits.commit), () => {
      // A restore has rolled it back, and gives its number to another.
      const isOpen = restores === this.restores;
      if (isOpen) this.#open.delete(first);
      commit(isOpen ? first : Number.NaN);
      this.#ring();
    });
  }

  /** The number of the newest change. */
  get newest(): number {
    return this.#last;
  }

  /**
   * @param first Its first number.
   * @param sentAt {@link newest} when it was sent: a document that was deleted since is made anew
   *   by it.
   */
  push(
    rows: readonly LocalChange[],
    isLate = false,
    first = this.#take(rows.length),
    sentAt = first,
  ): PushResult[] {
    if (Number.isNaN(first)) throw new ReplicationError('remote_failed', 'Rolled back.');
    return rows.map((row, index) =>
      structuredClone(
        this.#accept(
          structuredClone(row),
          isLate || (this.#rows.get(row.id)?.place ?? 0) > sentAt,
          first + index,
        ),
      ),
    );
  }

  /** Whether a push was made. */
  knows(key: string): boolean {
    return this.#habits.keys !== 'none' && this.#seen.has(key);
  }

  #take(count: number): number {
    this.#last += count;
    return this.#last - count + 1;
  }

  /**
   * Calls back once when there is something new, or at once. Returns the function that ends that.
   */
  onNews(after: string, call: () => void): () => void {
    if (after.split('~')[0] !== this.checkpoint) call();
    else this.#rings.add(call);
    return () => void this.#rings.delete(call);
  }

  /** Makes a copy of its data. */
  copy(): void {
    this.#copies.push({ rows: new Map(this.#rows), last: this.#last });
  }

  /** Goes back to a copy of its data, as after a disaster. @returns which one. */
  restore(): number | undefined {
    const copy = this.#random.pick(this.#copies);
    if (!copy) return undefined;
    const before = this.tokens();
    this.restores++;
    this.#rows = new Map(copy.rows);
    this.#last = copy.last;
    if (this.#random.chance(0.5)) this.#deleteSome();
    this.#open.clear();
    this.#seen.clear();
    for (const { keys } of this.#rows.values()) for (const [key] of keys) this.#seen.add(key);
    const after = this.tokens();
    for (const token of before) if (!after.has(token)) this.lost.add(token);
    this.#ring();
    return this.#copies.indexOf(copy);
  }

  /** The copy is of another history, in which documents were deleted. */
  #deleteSome(): void {
    for (const [id, row] of this.#rows) {
      if (!row.change.document || this.#random.chance(0.4)) continue;
      const change = { id, version: `${row.place}-deleted-${this.restores}`, document: undefined };
      this.#rows.set(id, { ...row, change, keys: [], earlier: undefined });
    }
  }

  /** All documents, by id. */
  documents(): Map<string, object> {
    const all = new Map<string, object>();
    for (const { change } of this.#rows.values())
      if (change.document)
        all.set(plainId(change.document), structuredClone(unsealed(change.document)));
    return all;
  }

  /** A document as it is stored. */
  stored(id: string): object | undefined {
    return this.#rows.get(id)?.change.document ?? undefined;
  }

  tokens(): Set<string> {
    return new Set(tokensIn([...this.documents().values()]));
  }

  #accept(row: LocalChange, isLate: boolean, place: number): PushResult {
    const { id, base, key, document } = row;
    const known = this.#rows.get(id);
    const knows = this.#habits.keys !== 'none';
    const [, made] = (knows && known?.keys.find(([name]) => name === key)) || [];
    if (known && made !== undefined) return repeated(known, made, this.#habits);
    if (this.#habits.refuses && isPoisoned(document)) return { rejected: { reason: 'poison' } };
    const isGone = !known?.change.document;
    if (!document && isGone) return { version: known?.change.version ?? ABSENT };
    const isNext = base === undefined ? isGone : (known?.change.version ?? ABSENT) === base;
    const merged = this.#habits.merges && !isNext && known ? mergedInto(known, row) : undefined;
    if (merged) return this.#put({ ...row, document: merged }, known, isLate, place, document);
    if (!isNext)
      return {
        conflict: known
          ? this.#sendable(known.change)
          : { id, version: ABSENT, document: undefined },
      };
    if (knows && this.#seen.has(key)) this.violations.push(`${key} was applied twice`);
    // One that keeps no keys makes a repeated push anew, though others have deleted it since.
    return this.#put(row, known, isLate || this.#seen.has(key), place);
  }

  #sendable(change: RemoteChange): RemoteChange {
    const { key, ...rest } = structuredClone(change);
    return this.#habits.keys === 'sent' && key !== undefined ? { ...rest, key } : rest;
  }

  /** @param sent What was pushed, where another document was made of it. */
  #put(
    row: LocalChange,
    known: Row | undefined,
    isLate: boolean,
    place: number,
    sent = row.document,
  ): PushResult {
    const { id, base, document, key } = row;
    // A version never comes again, not even after a restore.
    const version = `${place}-${this.restores}`;
    const adds = document && base === undefined && this.#habits.changes;
    const stored = adds ? { ...document, s: tokenOf('server', place, false) } : document;
    this.#rows.set(id, {
      change: { id, version, document: stored, key },
      ...{ place, earlier: document && known?.change.document ? known.change : undefined },
      keys: [...(known?.keys ?? []), [key, version] as const].slice(-KEYS),
    });
    this.#seen.add(key);
    if (stored) this.states.set(version, stored);
    if (document) this.#plainIds.set(id, plainId(document));
    if (isLate) this.late.add(this.#plainIds.get(id) ?? id);
    for (const token of tokensIn(stored)) this.accepted.add(token);
    if (adds) this.onAdded(id, tokenOf('server', place, false));
    this.#ring();
    return stored === sent ? { version } : { version, document: stored as object };
  }

  #ring(): void {
    this.changes++;
    for (const ring of [...this.#rings]) ring();
    this.#rings.clear();
  }
}

/** Whether a document is in a scope: `g` is the number of its group. */
export function isIn(document: object, { g }: ReplicationScope): boolean {
  return ((document as { readonly g?: number }).g ?? 0) === g;
}

/** What operations make of a document that others have changed, as in `cairndb/server`. */
function mergedInto({ change, keys }: Row, row: LocalChange): object | undefined {
  const newestFirst = keys.toReversed();
  const { id, operations, document } = row;
  if (!operations || !document) return undefined;
  const merged = mergedDocument({ ...row, document: encodeDocument(document) }, operations, {
    ...{ id, version: change.version },
    document: change.document ? encodeDocument(change.document) : null,
    keys: newestFirst.map(([key]) => key),
    versions: newestFirst.map(([, version]) => version),
  });
  return merged && decodeDocument(merged, id);
}

/** The answer to a push that was made before. A deletion since then comes with the next pull. */
function repeated(
  { change, keys }: Row,
  made: string,
  { changes, merges }: ServerHabits,
): PushResult {
  const { version, document } = change;
  const isNewest = keys.at(-1)?.[1] === made;
  if (!document) return { version: made };
  return isNewest && !changes && !merges ? { version } : { version, document };
}

function isPoisoned(document: object | undefined): boolean {
  return tokensIn(document).some((token) => token.endsWith('!'));
}
