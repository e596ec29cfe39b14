import { sameState } from '../../src/engine/replication/replica-tracker.ts';
import type { LocalRow } from '../../src/protocol/replica-protocol.ts';
import type { Conflict } from '../../src/replication/rounds/conflict-resolution.ts';
import { stateCodec } from '../../src/replication/states.ts';
import {
  type Change,
  type Decided,
  type Overwrite,
  type ReplicationLog,
  SERVER,
  shown,
  type Written,
} from './replication-log.ts';
import { isCount, tokensIn, writerOf } from './replication-tokens.ts';

/** What is to be known of a server. */
export interface CheckedServer {
  /** All tokens that it ever accepted. */
  readonly accepted: ReadonlySet<string>;
  /** Tokens that a restore has removed. */
  readonly lost: ReadonlySet<string>;
  /** Whether it tells the keys of pushes: else operations may count twice. */
  readonly tellsKeys: boolean;
  /** The documents that a late request may have changed. */
  readonly late: ReadonlySet<string>;
  /** All documents, by id. */
  documents(): ReadonlyMap<string, object>;
}

/** What a browser holds at rest. */
export interface Contents {
  readonly browser: number;
  readonly documents: ReadonlyMap<string, object>;
  /** Whether one of its scopes has a document. */
  readonly isWanted?: (document: object) => boolean;
  /** Documents that the server has refused, by id; `undefined`: deleted. */
  readonly rejected: ReadonlyMap<string, object | undefined>;
}

/** How a browser differs from the server, a line for each document. */
export function differences(
  server: CheckedServer,
  { documents, rejected, isWanted = () => true }: Contents,
): string[] {
  const wanted = new Map([...server.documents()].filter(([, document]) => isWanted(document)));
  const ids = [...new Set([...wanted.keys(), ...documents.keys()])].sort();
  return ids
    .filter((id) => !rejected.has(id))
    .map((id) => [id, shown(documents.get(id)), shown(comparable(wanted.get(id)))] as const)
    .filter(([, here, there]) => here !== there)
    .map(([id, here, there]) => `${id} is ${here}, on the server ${there}`);
}

/** The server keeps of the managed fields what says something. */
function comparable(document: object | undefined): object | undefined {
  return document && { _updated: false, _archived: false, ...document };
}

const codec = stateCodec('DOCUMENT_BASED');

/**
 * Bases that are neither the server's states at their versions, nor what was pushed since.
 *
 * @param states Those of the server, by their versions.
 */
export function* wrongBases(
  states: ReadonlyMap<string, object>,
  rows: readonly LocalRow[],
): Generator<string> {
  for (const { id, version = '', base, pushes } of rows) {
    const there = states.get(version);
    if (!base || !there || pushes.some(([, sent]) => sent && sameState(sent, base))) continue;
    const [mine, theirs] = [codec.toDocument(id, base), there].map((one) => shown(comparable(one)));
    if (mine !== theirs) yield `${id} has the base ${mine}, the server had ${theirs}`;
  }
}

/** Compares what clients have done with what there is at rest. */
export class ReplicationChecker {
  readonly #log: ReplicationLog;
  readonly #server: CheckedServer;
  readonly #contents: readonly Contents[];
  readonly #documents: ReadonlyMap<string, object>;

  constructor(log: ReplicationLog, server: CheckedServer, contents: readonly Contents[]) {
    this.#log = log;
    this.#server = server;
    this.#contents = contents;
    this.#documents = server.documents();
  }

  /** The events of pages, and what pages that have ended could not tell. */
  get #decided(): Conflict[] {
    const { conflicts, untold, changes } = this.#log;
    const told = conflicts.map(({ conflict }) => conflict);
    return changes.some(({ tab }) => tab.dead) ? [...told, ...untold] : told;
  }

  problems(): string[] {
    return [
      ...this.#lost(),
      ...this.#returned(),
      ...this.#undeleted(),
      ...this.#twice(),
      ...this.#falseConflicts(),
      ...this.#uncounted(),
      ...this.#echoes(),
    ];
  }

  /** Values that are gone, and nothing says why. */
  *#lost(): Generator<string> {
    for (const change of this.#log.changes)
      for (const written of change.writes)
        if (this.#isDue(change, written.token) && !this.#isExplained(change, written))
          yield `${written.token} of ${written.id} is lost`;
  }

  #isDue(change: Change, token: string): boolean {
    // The server accepts changes that are saved.
    return this.#server.accepted.has(token) || isKept(change);
  }

  #isExplained(change: Change, { id, field, token }: Written): boolean {
    const has = (document: object | undefined) => tokensIn(document).includes(token);
    return (
      has(this.#documents.get(id)) ||
      this.#server.lost.has(token) ||
      this.#log.isToldLost(change) ||
      this.#contents.some(({ rejected }) => has(rejected.get(id))) ||
      this.#decided.some(
        ({ local, remote, result, ...conflict }) =>
          conflict.id === id && (has(local) || has(remote)) && !has(result),
      ) ||
      this.#log.changes.some(
        (other) =>
          other !== change &&
          other.status !== 'refused' &&
          (other.to > change.from || change.browser === SERVER || this.#log.mayBeReplayed(other)) &&
          other.overwrites.some((one) => isOf(one, id, field)) &&
          this.#hasSeen(other, change, { id, token }),
      )
    );
  }

  /** Whether a change was made where the other one was known. */
  #hasSeen(
    later: Change,
    { browser }: Change,
    { id, token }: Pick<Written, 'id' | 'token'>,
  ): boolean {
    if (later.browser === browser) return true;
    // What the server adds may be under way as the document is deleted, or is in no backup.
    const isGone = later.creates === 'all' && !this.#documents.has(id);
    if (browser === SERVER && (later.deletes !== undefined || isGone)) return true;
    const came = this.#log.deliveries[later.browser]?.get(token);
    // After a failover changes are reapplied: to what the next leader knows.
    const isReapplied = this.#log.changes.some(
      (one) => one.browser === later.browser && (one.tab.dead || one.tab.frozenUntil > 0),
    );
    return came !== undefined && (came < later.to || isReapplied);
  }

  /**
   * Values that were replaced or removed where they were written, are there, and nothing says why.
   */
  *#returned(): Generator<string> {
    const { changes, restores, hasLoaded } = this.#log;
    if (restores.length > 0 || hasLoaded) return;
    for (const change of changes)
      for (const { id, field, token } of change.writes) {
        const isThere = tokensIn(this.#documents.get(id)).includes(token);
        if (!isThere || change.status !== 'acknowledged' || this.#server.late.has(id)) continue;
        if (change.isStale || this.#log.mayBeReplayed(change)) continue;
        const later = changes.find(
          (other) =>
            other.browser === change.browser &&
            other.from > change.to &&
            isKept(other) &&
            other.overwrites.some((one) => isOf(one, id, field)),
        );
        if (later && !this.#isBroughtBack(id, token)) yield `${token} of ${id} came back`;
      }
  }

  #isBroughtBack(ofId: string, token: string): boolean {
    const has = (document: object | undefined) => tokensIn(document).includes(token);
    return (
      this.#contents.some(({ rejected }) => rejected.has(ofId)) ||
      this.#decided.some(
        ({ id, local, remote, result }) =>
          id === ofId && has(result) && !(has(local) && has(remote)),
      )
    );
  }

  /** Conflicts of a browser with a value that it has written itself. */
  *#echoes(): Generator<string> {
    if (this.#log.isScoped) return;
    // Others may have the same file: without keys, a device takes it for what it has pushed.
    if (this.#log.hasFiles && !this.#server.tellsKeys) return;
    const madeAt = new Map(
      this.#log.changes.flatMap(({ writes, from }) =>
        writes.map(({ token }) => [token, from] as const),
      ),
    );
    for (const { browser, conflict, isPlain } of this.#log.conflicts) {
      const { id, local, remote, result } = conflict as Conflict<Record<string, unknown>>;
      if (!isPlain || !local || !remote || this.#server.late.has(id)) continue;
      // An edit elsewhere has kept what was deleted here, and was made anew.
      if (this.#decided.some((one) => one.id === id && (!one.local || !one.remote))) continue;
      for (const field of ['x', 'y']) {
        const [mine, theirs] = [local[field], remote[field]].map(String) as [string, string];
        const isOwn = writerOf(mine) === browser && writerOf(theirs) === browser;
        if (!isOwn || mine === theirs || result?.[field] === mine) continue;
        if ((madeAt.get(theirs) ?? 0) < (madeAt.get(mine) ?? 0))
          yield `${field} of ${id}: ${mine} conflicts with ${theirs}, of the same browser`;
      }
    }
  }

  /** Deleted documents that are there, and nothing says why. */
  *#undeleted(): Generator<string> {
    for (const change of this.#log.changes) {
      const { deletes: id, from, browser } = change;
      if (id === undefined || !isKept(change) || !this.#hasKnown(change, id)) continue;
      const isExplained =
        this.#server.late.has(id) ||
        this.#log.restores.some((at) => at > from) ||
        this.#log.resets.some((one) => one.browser === browser && one.at > from) ||
        this.#contents.some(({ rejected }) => rejected.has(id)) ||
        // An edit elsewhere may have won against another deletion of it before.
        this.#decided.some(
          ({ local, remote, ...conflict }) => conflict.id === id && (!local || !remote),
        ) ||
        this.#log.changes.some(
          (one) =>
            one.status !== 'refused' &&
            (one.to > from || this.#log.mayBeReplayed(one)) &&
            (one.creates === 'all' || one.creates.includes(id)),
        );
      if (!isExplained) yield `${id} was deleted and is there`;
    }
  }

  /**
   * Whether what is there was deleted: one that was made and deleted before a pull says nothing of
   * the server's.
   */
  #hasKnown({ browser, from, deleted }: Change, id: string): boolean {
    const there = tokensIn(this.#documents.get(id));
    if (deleted) return there.some((token) => deleted.includes(token));
    const known = this.#log.deliveries[browser];
    const own = new Set(
      this.#log.changes
        .filter((one) => one.browser === browser && one.to < from)
        .flatMap(({ writes }) => writes.map(({ token }) => token)),
    );
    return there.some((token) => own.has(token) || (known?.get(token) ?? from) < from);
  }

  *#twice(): Generator<string> {
    if (!this.#server.tellsKeys) return;
    for (const [id, document] of this.#documents) {
      const tokens = tokensIn(document);
      if (new Set(tokens).size < tokens.length)
        yield `a change of ${id} was applied twice: ${tokens}`;
    }
  }

  /** Conflicts with a state that the local one derives from. */
  *#falseConflicts(): Generator<string> {
    if (this.#log.isScoped) return;
    const deleted = new Set(this.#log.changes.map(({ deletes }) => deletes));
    for (const { browser, conflict, isPlain, isOwn, isUnanswered } of this.#log.conflicts) {
      const { id, local, remote, result } = conflict;
      const losses = tokensIn(local).filter((token) => !tokensIn(result).includes(token));
      // Documents that two browsers have inserted have no common base.
      if (!isPlain || losses.length === 0 || deleted.has(id)) continue;
      if (isOwn) yield `${id} conflicts with what this browser has pushed: ${shown(remote)}`;
      yield* this.#causeless(browser, conflict);
      const [longer, shorter] = [listOf(local), listOf(remote)];
      if (!longer || !shorter || isUnanswered || longer.length <= shorter.length) continue;
      // A list that goes on where the server's ends.
      const isNext = shorter.every((token, index) => token === longer[index]);
      if (isNext && longer.some((token) => losses.includes(token)))
        yield `a conflict of ${id} is none: ${longer} derives from ${shorter}`;
    }
  }

  /** Conflicts in a value that came from elsewhere, and so is the server's own. */
  *#causeless(browser: number, { id, base, local, remote }: Conflict): Generator<string> {
    if (!this.#server.tellsKeys) return;
    for (const field of ['x', 'y']) {
      const [from, mine, theirs] = [base, local, remote].map((one) => fieldOf(one, field));
      if (!mine || !theirs || mine === theirs || writerOf(mine) === browser) continue;
      if (from !== mine && from !== theirs)
        yield `a conflict of ${id} is none: ${mine} was not written by browser ${browser}`;
    }
  }

  #isMadeTwice(id: string): boolean {
    const made = this.#log.changes.filter(
      ({ creates }) => creates !== 'all' && creates.includes(id),
    );
    return new Set(made.map(({ browser }) => browser)).size > 1;
  }

  /** Counts that a conflict has lost, of a document in which nobody has set the counter. */
  *#uncounted(): Generator<string> {
    // A document that left a browser may be made anew there.
    if (!this.#server.tellsKeys || this.#log.isScoped) return;
    for (const { conflict, isPlain } of this.#log.conflicts) {
      const { id, base, local, remote, result } = conflict;
      // Documents that two browsers have inserted: neither count derives from the other.
      const isCounted = base && 'c' in base;
      if (!isCounted && this.#isMadeTwice(id)) continue;
      const isReplaced = this.#log.changes.some(({ overwrites }) =>
        overwrites.some((one) => isOf(one, id, 'c')),
      );
      if (!isPlain || isReplaced || this.#server.late.has(id)) continue;
      const there = new Set(tokensIn(result));
      const lost = tokensIn([local, remote]).filter((one) => isCount(one) && !there.has(one));
      if (lost.length > 0) yield `a conflict of ${id} has lost ${lost}`;
    }
  }
}

/** Whether nothing may lose a change: its page lives, or it was saved. */
function isKept({ status, isSaved, isStale, tab }: Change): boolean {
  return status === 'acknowledged' && !isStale && (isSaved || !tab.dead);
}

function isOf({ id, field }: Overwrite, ofId: string, ofField: string | undefined): boolean {
  return (id === undefined || id === ofId) && (field === undefined || field === ofField);
}

function fieldOf(document: object | undefined, field: string): string | undefined {
  return (document as Readonly<Record<string, string>> | undefined)?.[field];
}

function listOf(document: Decided['conflict']['local']): readonly string[] | undefined {
  return (document as { readonly l?: readonly string[] } | undefined)?.l;
}
