import { createHash } from 'node:crypto';
import { matchesMango } from '../replication/couchdb/mango.ts';
import {
  type Attachment,
  type AttachmentsByName,
  attachmentsFrom,
  fieldOf,
  NO_ATTACHMENTS,
} from './couch-attachments.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A document in a request or an answer. */
export type CouchJson = Fields & {
  readonly _id: string;
  readonly _rev?: string;
  readonly _deleted?: boolean;
};

interface Revision {
  readonly rev: string;
  readonly parent: string | undefined;
  readonly isDeleted: boolean;
  /** `undefined`: its name alone is known. */
  readonly fields: Fields | undefined;
  readonly attachments: AttachmentsByName;
}

/** All revisions of a document; it is replaced with each change. */
interface Tree {
  readonly seq: number;
  readonly revisions: ReadonlyMap<string, Revision>;
}

/** All that a database has. */
export interface CouchState {
  readonly seq: number;
  readonly trees: ReadonlyMap<string, Tree>;
  readonly locals: ReadonlyMap<string, CouchJson>;
}

export interface CouchRequest {
  /** Behind that of the database. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: any;
}

export interface CouchAnswer {
  readonly status: number;
  readonly body: unknown;
  /** In place of a body. */
  readonly attachment?: Attachment;
}

interface ChangesAsk {
  readonly since: number;
  readonly limit: number;
  readonly selector?: Fields | undefined;
  readonly hasDocs: boolean;
}

const CONFLICT = { error: 'conflict', reason: 'Document update conflict.' };
const MISSING_STUB = 'missing_stub';
const NOT_FOUND = { status: 404, body: { error: 'not_found', reason: 'missing' } };

/**
 * A database of CouchDB in memory: the requests that `couchdb()` makes, and those of other
 * programs that write. test/servers/couch-model.test.ts compares it with PouchDB's server.
 */
export class CouchModel {
  /**
   * CouchDB makes no document anew of its tombstone's revision, and takes local documents from
   * all; PouchDB's server is otherwise.
   */
  readonly #isPouch: boolean;
  /** Names a state: the same of the same parent gets the same name. */
  readonly #hash: (text: string) => string;
  #seq = 0;
  #trees = new Map<string, Tree>();
  #locals = new Map<string, CouchJson>();

  constructor({ isPouch = false, hash = md5 } = {}) {
    this.#isPouch = isPouch;
    this.#hash = hash;
  }

  get seq(): number {
    return this.#seq;
  }

  copy(): CouchState {
    return { seq: this.#seq, trees: new Map(this.#trees), locals: new Map(this.#locals) };
  }

  restore({ seq, trees, locals }: CouchState): void {
    this.#seq = seq;
    this.#trees = new Map(trees);
    this.#locals = new Map(locals);
  }

  /** The documents that are there; those of a selector. */
  documents(selector: Fields = {}): CouchJson[] {
    return [...this.#trees.keys()].flatMap((id) => {
      const document = this.get(id);
      return document && !document._deleted && matchesMango(document, selector) ? [document] : [];
    });
  }

  /** The winner; with its conflicts. */
  get(id: string, hasConflicts = false): CouchJson | undefined {
    const tree = this.#trees.get(id);
    if (!tree) return undefined;
    const [winner, ...others] = leavesOf(tree) as [Revision, ...Revision[]];
    const conflicts = others.filter((one) => !one.isDeleted).map(({ rev }) => rev);
    return {
      ...bodyOf(id, winner),
      ...(hasConflicts && conflicts.length > 0 && { _conflicts: conflicts }),
    };
  }

  /** The bodies of all branches that are not deleted, the winner first. */
  branches(id: string): CouchJson[] {
    const tree = this.#trees.get(id);
    return (tree ? leavesOf(tree) : [])
      .filter(({ isDeleted }) => !isDeleted)
      .map((one) => bodyOf(id, one));
  }

  ids(): string[] {
    return [...this.#trees.keys()];
  }

  /** The place of its newest change; 0: there is none. */
  placeOf(id: string): number {
    return this.#trees.get(id)?.seq ?? 0;
  }

  /** What a revision has attached, as far as it is known; left out: the winner. */
  attachments(id: string, rev = this.get(id)?._rev): AttachmentsByName {
    return (rev && this.#revision(id, rev)?.attachments) || NO_ATTACHMENTS;
  }

  /** The revision that another one has followed. */
  parentOf(id: string, rev: string): string | undefined {
    return this.#revision(id, rev)?.parent;
  }

  /** A revision and its ancestors, as in `_revisions`. */
  history(id: string, rev: string): { readonly start: number; readonly ids: string[] } {
    const path: string[] = [];
    for (let at: string | undefined = rev; at; at = this.#revision(id, at)?.parent) path.push(at);
    return { start: generation(rev), ids: path.map((one) => one.slice(one.indexOf('-') + 1)) };
  }

  /** Forgets the bodies of revisions that others have followed. */
  compact(): void {
    for (const [id, tree] of this.#trees) {
      const leaves = new Set(leavesOf(tree));
      const revisions = [...tree.revisions.values()].map((one): [string, Revision] => [
        one.rev,
        leaves.has(one) ? one : { ...one, fields: undefined, attachments: NO_ATTACHMENTS },
      ]);
      this.#trees.set(id, { ...tree, revisions: new Map(revisions) });
    }
  }

  handle({ path, query, body }: CouchRequest): CouchAnswer {
    if (path === '') return { status: 200, body: { instance_start_time: '0' } };
    if (path.startsWith('/_local/')) {
      const found = this.#locals.get(path.slice(1));
      return found ? { status: 200, body: found } : NOT_FOUND;
    }
    if (path === '/_bulk_docs') return bulkAnswer(this.write(body.docs, body.new_edits !== false));
    if (path === '/_changes') {
      const since = query.get('since') === 'now' ? this.#seq : Number(query.get('since') ?? 0);
      const limit = Number(query.get('limit') ?? Number.POSITIVE_INFINITY);
      const hasDocs = query.get('include_docs') === 'true';
      const { selector } = body ?? {};
      return { status: 200, body: this.changes({ since, limit, selector, hasDocs }) };
    }
    if (path === '/_all_docs') {
      const rows = body.keys.map((key: string) => this.#row(key));
      return { status: 200, body: { rows } };
    }
    if (path === '/_bulk_get') {
      const hasRevs = query.get('revs') === 'true';
      const results = body.docs.map((one: { id: string; rev: string }) => ({
        ...{ id: one.id, docs: [this.#stored(one, hasRevs)] },
      }));
      return { status: 200, body: { results } };
    }
    if (path === '/_revs_diff') return { status: 200, body: this.#missing(body) };
    if (path === '/_find') {
      const found = this.documents(body.selector).slice(0, body.limit);
      return { status: 200, body: { docs: found.map(({ _id }) => ({ _id })) } };
    }
    const [id = '', name] = path.slice(1).split('/').map(decodeURIComponent);
    if (body) return singleAnswer(this.write([body])[0] as EditAnswer);
    const isGone = this.get(id)?._deleted === true;
    const attachment = !isGone && name && this.attachments(id).get(name);
    return attachment ? { status: 200, body: undefined, attachment } : NOT_FOUND;
  }

  changes({ since, limit, selector, hasDocs }: ChangesAsk) {
    const rows = [...this.#trees]
      .filter(([, { seq }]) => seq > since)
      .sort(([, a], [, b]) => a.seq - b.seq)
      .map(([id, { seq }]) => ({ seq, doc: this.get(id, true) as CouchJson }))
      .filter(({ doc }) => !selector || matchesMango(doc, selector))
      .map(({ seq, doc }) => ({
        ...{ seq, id: doc._id, changes: [{ rev: doc._rev }] },
        ...(doc._deleted && { deleted: true }),
        ...(hasDocs && { doc }),
      }));
    const results = rows.slice(0, limit);
    const pending = rows.length - results.length;
    const end = Math.max(since, this.#seq);
    return { results, last_seq: pending > 0 ? (results.at(-1)?.seq ?? since) : end, pending };
  }

  /** @param isNew `false`: revisions of another node. */
  write(documents: readonly CouchJson[], isNew = true): EditAnswer[] {
    if (isNew) return documents.map((one) => ({ id: one._id, ...this.#edit(one) }));
    for (const one of documents) this.#add(one);
    return [];
  }

  #edit(edit: CouchJson): EditAnswer {
    const { _id: id, _rev: base, _deleted: isDeleted = false, _attachments, ...fields } = edit;
    if (id.startsWith('_local/')) return this.#editLocal(edit);
    const tree = this.#trees.get(id);
    const [winner] = tree ? leavesOf(tree) : [];
    const isGone = winner?.isDeleted === true;
    if (!winner && base !== undefined) return CONFLICT;
    if (winner && base === undefined && (!isGone || isDeleted)) return CONFLICT;
    if (isGone && base !== undefined && !this.#isPouch) return CONFLICT;
    const parent = base ?? winner?.rev;
    if (tree && !leavesOf(tree).some(({ rev }) => rev === parent)) return CONFLICT;
    const kept = base === undefined ? NO_ATTACHMENTS : this.attachments(id, base);
    const attachments = attachmentsFrom(_attachments, kept, generation(parent) + 1);
    if (typeof attachments === 'string') return { error: MISSING_STUB, reason: attachments };
    const digests = [...attachments].map(([name, { type, digest }]) => [name, type, digest]);
    const text = JSON.stringify([id, parent, isDeleted, fields, ...digests]);
    const rev = `${generation(parent) + 1}-${this.#hash(text)}`;
    this.#put(id, [{ rev, parent, isDeleted, fields, attachments }]);
    return { ok: true, rev };
  }

  #editLocal(edit: CouchJson): EditAnswer {
    const known = this.#locals.get(edit._id)?._rev;
    if (this.#isPouch && edit._rev !== known) return CONFLICT;
    const rev = `0-${Number((edit._rev ?? '0-0').slice(2)) + 1}`;
    this.#locals.set(edit._id, { ...edit, _rev: rev });
    return { ok: true, rev };
  }

  #add({ _id: id, _rev, _revisions, _attachments, ...others }: CouchJson): void {
    const { _deleted: isDeleted = false, ...fields } = others;
    const given = _revisions as { readonly start: number; readonly ids: string[] } | undefined;
    const path = given?.ids.map((one, at) => `${given.start - at}-${one}`) ?? [_rev as string];
    const [rev] = path as [string];
    if (this.#revision(id, rev)) return;
    const known = path.find((one) => this.#revision(id, one)?.fields);
    const kept = known ? this.attachments(id, known) : NO_ATTACHMENTS;
    const attachments = attachmentsFrom(_attachments, kept, generation(rev));
    if (typeof attachments === 'string')
      throw new Error(`A stub stands for nothing: ${attachments}`);
    const ancestors = path.slice(1).flatMap((one, at) => {
      const parent = path[at + 2];
      const isKnown = this.#revision(id, one) !== undefined;
      return isKnown ? [] : [{ ...ANCESTOR, rev: one, parent }];
    });
    this.#put(id, [...ancestors, { rev, parent: path[1], isDeleted, fields, attachments }]);
  }

  #put(id: string, added: readonly Revision[]): void {
    const before = this.#trees.get(id)?.revisions ?? [];
    const revisions = new Map([...before, ...added.map((one) => [one.rev, one] as const)]);
    this.#trees.set(id, { seq: ++this.#seq, revisions });
  }

  #revision(id: string, rev: string): Revision | undefined {
    return this.#trees.get(id)?.revisions.get(rev);
  }

  #row(key: string): object {
    const doc = this.get(key);
    if (!doc) return { key, error: 'not_found' };
    const { _rev: rev, _deleted: deleted } = doc;
    return deleted
      ? { id: key, key, value: { rev, deleted }, doc: null }
      : { id: key, key, value: { rev }, doc };
  }

  #stored({ id, rev }: { readonly id: string; readonly rev: string }, hasRevs: boolean): object {
    const found = this.#revision(id, rev);
    if (!found?.fields) return { error: { id, rev, error: 'not_found', reason: 'missing' } };
    return {
      ok: { ...bodyOf(id, found), ...(hasRevs && { _revisions: this.history(id, rev) }) },
    };
  }

  #missing(asked: Readonly<Record<string, readonly string[]>>): object {
    const missing = Object.entries(asked).map(([id, revs]) => [
      id,
      { missing: revs.filter((rev) => !this.#revision(id, rev)) },
    ]);
    return Object.fromEntries(missing.filter(([, one]) => (one as any).missing.length > 0));
  }
}

/** The result of an edit, as in the answer of `_bulk_docs`. */
export interface EditAnswer {
  readonly id?: string;
  readonly ok?: boolean;
  readonly rev?: string;
  readonly error?: string;
  readonly reason?: string;
}

const ANCESTOR = { isDeleted: false, fields: undefined, attachments: NO_ATTACHMENTS };

/** One stub that stands for nothing fails the request. */
export function bulkAnswer(results: readonly EditAnswer[]): CouchAnswer {
  const failed = results.find(({ error }) => error === MISSING_STUB);
  return failed ? singleAnswer(failed) : { status: 201, body: results };
}

export function singleAnswer(result: EditAnswer): CouchAnswer {
  const statuses: Record<string, number> = { conflict: 409, forbidden: 403, [MISSING_STUB]: 412 };
  return { status: result.error ? (statuses[result.error] as number) : 201, body: result };
}

function bodyOf(id: string, { rev, isDeleted, fields, attachments }: Revision): CouchJson {
  const all = { ...fields, ...fieldOf(attachments) };
  return { _id: id, _rev: rev, ...(isDeleted && { _deleted: true }), ...all };
}

/** The leaves of a tree, the winner first. */
function leavesOf({ revisions }: Tree): Revision[] {
  const parents = new Set([...revisions.values()].map(({ parent }) => parent));
  return [...revisions.values()]
    .filter(({ rev }) => !parents.has(rev))
    .sort(
      (a, b) =>
        Number(a.isDeleted) - Number(b.isDeleted) ||
        generation(b.rev) - generation(a.rev) ||
        (a.rev < b.rev ? 1 : -1),
    );
}

function generation(rev: string | undefined): number {
  return Number.parseInt(rev ?? '0', 10);
}

export function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
