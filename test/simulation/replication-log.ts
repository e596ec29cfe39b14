import type { CairnError } from '../../src/errors/errors.ts';
import type { LocalChange } from '../../src/replication/protocol/remote.ts';
import type { Conflict } from '../../src/replication/rounds/conflict-resolution.ts';

/** Part of a change: a field of a document that gets another value. `undefined` stands for all. */
export interface Overwrite {
  readonly id: string | undefined;
  readonly field: string | undefined;
}

/** A value that a change writes. */
export interface Written extends Overwrite {
  readonly id: string;
  readonly token: string;
}

export type ChangeStatus = 'open' | 'acknowledged' | 'refused' | 'unknown';

/** A call that changes documents. */
export interface Change {
  readonly browser: number;
  /** Whose tab made it. */
  readonly tab: { readonly dead: boolean; readonly frozenUntil: number };
  readonly writes: readonly Written[];
  readonly overwrites: readonly Overwrite[];
  readonly deletes: string | undefined;
  /** The values of what it deletes; `undefined`: not known. */
  deleted?: readonly string[] | undefined;
  /** Whether it is a transaction. */
  readonly isWhole: boolean;
  /** The document may be there again. */
  readonly creates: readonly string[] | 'all';
  readonly from: number;
  to: number;
  status: ChangeStatus;
  isSaved: boolean;
  savedAt: number;
  /**
   * Whether a leader acknowledged it that did not know yet that it had been frozen, and replaced.
   */
  isStale: boolean;
}

/** A conflict, with the browser that decided it. */
export interface Decided {
  readonly browser: number;
  readonly conflict: Conflict;
  readonly at: number;
  /** Whether it is of the default resolver, and nothing took documents back before. */
  readonly isPlain: boolean;
  /** Whether the browser had pushed the document without hearing of it. */
  readonly isUnanswered: boolean;
  /** Whether the server's state is one that the browser has pushed itself. */
  readonly isOwn: boolean;
}

/** The number of the server among browsers. */
export const SERVER = -1;

interface Push {
  readonly browser: number;
  readonly tab: Change['tab'];
  readonly ids: ReadonlySet<string>;
  isAnswered: boolean;
}

/** What a change consists of. */
export type Parts = Partial<
  Pick<Change, 'writes' | 'overwrites' | 'deletes' | 'isWhole' | 'creates'>
>;

/** Writes down what clients do. Its times are a counter: in one thread everything has one order. */
export class ReplicationLog {
  readonly changes: Change[] = [];
  readonly conflicts: Decided[] = [];
  /** All conflicts that a page has decided: it may have ended before it could tell. */
  readonly untold = new Set<Conflict>();
  /** When a token came to a browser first. */
  readonly deliveries: Map<string, number>[] = [];
  /** Whether documents leave browsers: they do not know them any more. */
  isScoped = false;
  /** Whether documents name files; several may name the same. */
  hasFiles = false;
  /** When the server went back to a copy. */
  readonly restores: number[] = [];
  /** When a browser heard of that. */
  readonly resets: { readonly browser: number; readonly at: number }[] = [];
  /** Whether a browser went back to a backup. */
  hasLoaded = false;
  readonly #freezes: { readonly tab: Change['tab']; readonly at: number }[] = [];
  readonly #failures: { readonly tab: Change['tab']; readonly error: CairnError }[] = [];
  readonly mergesFields: boolean;
  readonly #pushes: Push[] = [];
  readonly #pushed = new Set<string>();
  #time = 0;
  #counts = 0;

  /** @param mergesFields Whether conflicts are resolved so. */
  constructor(mergesFields: boolean) {
    this.mergesFields = mergesFields;
  }

  /** The number of the next count. */
  takeCount(): number {
    return this.#counts++;
  }

  mark(): number {
    return ++this.#time;
  }

  begin(browser: number, tab: Change['tab'], parts: Parts): Change {
    const change: Change = {
      ...{ browser, tab, writes: [], overwrites: [], deletes: undefined, creates: [] },
      isWhole: false,
      ...parts,
      ...{
        from: this.mark(),
        to: Number.POSITIVE_INFINITY,
        status: 'open',
        isSaved: false,
        savedAt: Number.POSITIVE_INFINITY,
        isStale: false,
      },
    };
    this.changes.push(change);
    return change;
  }

  /** Must be called as a tab freezes. */
  froze(tab: Change['tab']): void {
    this.#freezes.push({ tab, at: this.mark() });
  }

  /**
   * Whether a tab may have frozen with a change that was not durable: it replays the change as it
   * wakes up.
   */
  mayBeReplayed({ tab, to, savedAt }: Change): boolean {
    return this.#freezes.some((one) => one.tab === tab && one.at > to && one.at < savedAt);
  }

  /** Must be called with each event `error` of a tab. */
  failed(tab: Change['tab'], error: unknown): void {
    this.#failures.push({ tab, error: error as CairnError });
  }

  /** Whether a tab has told that it could not replay a change, its own or after a failover. */
  isToldLost(change: Change): boolean {
    return (
      (this.mayBeReplayed(change) || this.#hasFailedOver(change)) &&
      this.#failures.some(
        ({ tab, error: { code, message } }) =>
          tab === change.tab &&
          (code === 'transaction_conflict'
            ? change.isWhole
            : ['change_lost', 'id_taken'].includes(code) &&
              change.writes.some(({ id }) => message.includes(`"${id}"`))),
      )
    );
  }

  /** Whether the leader of a tab may have ended with what a change was based on. */
  #hasFailedOver({ browser }: Change): boolean {
    return this.changes.some((one) => one.browser === browser && one.tab.dead);
  }

  /** The server is a client that nobody ends. */
  addedByServer(id: string, token: string): void {
    const writes = [{ id, field: 's', token }];
    this.end(this.begin(SERVER, { dead: false, frozenUntil: 0 }, { writes }), 'acknowledged');
  }

  end(change: Change, status: ChangeStatus): void {
    change.status = status;
    if (status !== 'unknown') change.to = this.mark();
  }

  /** @param reset Whether the server has gone back to a copy. */
  delivered(browser: number, tokens: readonly string[], { reset = false } = {}): void {
    const known = this.deliveries[browser] ?? new Map<string, number>();
    this.deliveries[browser] = known;
    const at = this.mark();
    if (reset) this.resets.push({ browser, at });
    for (const token of tokens) if (!known.has(token)) known.set(token, at);
  }

  /**
   * Must be called when a tab pushes rows. @returns a function to be called when it has the answer.
   */
  pushed(browser: number, tab: Change['tab'], rows: readonly LocalChange[]): () => void {
    for (const { id, document } of rows) this.#pushed.add(stateOf(browser, id, document));
    const push = { browser, tab, ids: new Set(rows.map(({ id }) => id)), isAnswered: false };
    this.#pushes.push(push);
    return () => {
      push.isAnswered = true;
    };
  }

  decided(browser: number, conflict: Conflict): void {
    const isPlain = this.mergesFields && this.restores.length === 0 && !this.hasLoaded;
    // A tab that ends may not have noted its answer.
    const isUnanswered = this.#pushes.some(
      ({ browser: other, tab, ids, isAnswered }) =>
        other === browser && ids.has(conflict.id) && (tab.dead || !isAnswered),
    );
    const isOwn = this.#pushed.has(stateOf(browser, conflict.id, conflict.remote));
    const at = this.mark();
    this.untold.delete(conflict);
    this.conflicts.push({ browser, conflict, at, isPlain, isUnanswered, isOwn });
  }
}

function stateOf(browser: number, id: string, document: object | undefined): string {
  return `${browser} ${id} ${shown(document)}`;
}

/** A document as text, whatever the order of its fields. */
export function shown(document: object | undefined): string {
  return JSON.stringify(document, sorted) ?? 'nothing';
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
