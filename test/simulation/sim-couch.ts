import { fromCouch, pushKeyOf } from '../../src/replication/couchdb/couch-documents.ts';
import type { CouchFiles } from './couch-files.ts';
import {
  bulkAnswer,
  type CouchAnswer,
  type CouchJson,
  CouchModel,
  type CouchRequest,
  type CouchState,
  type EditAnswer,
  md5,
  singleAnswer,
} from './couch-model.ts';
import type { CheckedServer } from './replication-checks.ts';
import type { ServerHabits } from './replication-server.ts';
import { tokensIn } from './replication-tokens.ts';
import type { World } from './world.ts';

/** A request, and when it was sent. */
export interface SentRequest extends CouchRequest {
  /** {@link SimCouch.epoch} */
  readonly epoch: string;
  /** The place of the newest change. */
  readonly place: number;
  /** Of a device; `undefined`: of another program. */
  readonly browser?: number | undefined;
}

/** An answer, with the documents in it, as clients read them. */
export interface SeenAnswer extends CouchAnswer {
  readonly documents: readonly object[];
}

/** Where a feed begins anew, at most so many changes earlier. */
const REWOUND = 3;

/** A database of CouchDB that behaves as a cluster may; notes what clients do. */
export class SimCouch implements CheckedServer {
  readonly accepted = new Set<string>();
  readonly late = new Set<string>();
  readonly tellsKeys = true;
  readonly rights = new Map<string, number>();
  replays = 0;
  /** Grows with each change. */
  changes = 0;
  files: CouchFiles | undefined;
  readonly isPouch: boolean;
  readonly model: CouchModel;
  readonly #world: World;
  readonly #habits: ServerHabits;
  readonly #isWhole: boolean;
  readonly #copies: CouchState[] = [];
  readonly #rings = new Set<() => void>();
  /** What the node that answers with changes has: it may be behind. */
  readonly #node = new CouchModel();
  #restores = 0;
  readonly #lost = new Set<string>();
  readonly #keys = new Map<string, number>();

  /** @param isWhole Whether devices have all documents: of others, nobody merges the branches. */
  constructor(world: World, habits: ServerHabits, isWhole: boolean) {
    this.#isWhole = isWhole;
    this.#world = world;
    this.#habits = habits;
    this.isPouch = world.random.chance(0.3);
    // Keys are others in each run: what wins must not depend on them.
    const hash = (text: string) =>
      md5(text.replace(/"key":"\d+ [\w.-]+/, (key) => `${this.#numberOf(key)}`));
    this.model = new CouchModel({ isPouch: this.isPouch, hash });
  }

  /** Another one after each restore. */
  get epoch(): string {
    return String(this.#restores);
  }

  get violations(): string[] {
    const wrong = this.files?.violations ?? [];
    if (!this.#isWhole) return wrong;
    const branched = this.model.ids().filter((id) => areMergeable(this.model.branches(id)));
    return [...wrong, ...branched.map((id) => `${id} has branches`)];
  }

  /** Those that a restore has removed, and those of branches that nobody can merge. */
  get lost(): ReadonlySet<string> {
    const branches = this.model.ids().map((id) => this.model.branches(id));
    const apart = branches.filter((all) => all.length > 1 && !areMergeable(all));
    return new Set([...this.#lost, ...tokensIn(apart.flat().map(decoded))]);
  }

  handle(sent: SentRequest, isLate: boolean): SeenAnswer {
    const { path, query, body } = sent;
    const edits = editsIn(sent);
    if (edits && path === '/_bulk_docs') return seen(bulkAnswer(this.#write(sent, edits, isLate)));
    if (edits) return seen(singleAnswer(this.#write(sent, edits, isLate)[0] as EditAnswer));
    if (path !== '/_changes') return seen(this.model.handle(sent));
    const { page } = this.#habits;
    // One node does not, nor does an older server say how much is left.
    const repeats = this.#habits.repeats && !this.isPouch;
    const { random } = this.#world;
    const given = query.get('since') ?? '0';
    const since = Number.parseInt(given, 10);
    const changes = (from: number) => {
      const asked = new URLSearchParams(query);
      const limit = Number(query.get('limit'));
      asked.set('limit', String(this.isPouch ? limit : Math.min(limit, page)));
      asked.set('since', String(from));
      const answer = this.#node.handle({ path, query: asked, body });
      return answer.body as ReturnType<CouchModel['changes']>;
    };
    const from = given === 'now' ? this.#node.seq : since;
    const again = repeats ? changes(Math.max(0, from - random.below(REWOUND + 1))) : undefined;
    // It gets on.
    const isFar = again && again.last_seq >= from + Math.sign(again.pending);
    const { results, last_seq, pending } = isFar ? again : changes(from);
    const rows = results.map((row) => ({ ...row, seq: this.#opaque(row.seq) }));
    // Of several shards.
    if (repeats) for (let at = rows.length - 1; at > 0; at--) swap(rows, at, random.below(at + 1));
    const end = { last_seq: this.#opaque(last_seq), ...(!this.isPouch && { pending }) };
    return seen({ status: 200, body: { results: rows, ...end } });
  }

  /** Calls back at each change that the feed gets. Returns the function that ends that. */
  onChange(call: () => void): () => void {
    this.#rings.add(call);
    return () => void this.#rings.delete(call);
  }

  documents(): Map<string, object> {
    return new Map(this.model.documents().map((one) => [one._id, decoded(one)]));
  }

  copy(): void {
    this.#copies.push(this.model.copy());
  }

  restore(): number | undefined {
    const copy = this.#world.random.pick(this.#copies);
    if (!copy) return undefined;
    const before = this.#tokens();
    this.#restores++;
    this.model.restore(copy);
    this.#node.restore(copy);
    const after = this.#tokens();
    for (const token of before) if (!after.has(token)) this.#lost.add(token);
    this.#ring();
    return this.#copies.indexOf(copy);
  }

  /** Another program writes. @returns whether nobody else has changed the documents meanwhile. */
  write(documents: readonly object[], isNew = true): boolean {
    const { epoch, model } = this;
    const body = { docs: documents, ...(!isNew && { new_edits: false }) };
    const asked = { path: '/_bulk_docs', query: new URLSearchParams(), body };
    const answer = this.handle({ ...asked, epoch, place: model.seq }, false);
    return (answer.body as { readonly error?: string }[]).every(({ error }) => !error);
  }

  #write(
    { body, epoch, place, browser }: SentRequest,
    edits: readonly CouchJson[],
    isLate: boolean,
  ): EditAnswer[] {
    const isNew = body.new_edits !== false;
    const isDevice = browser !== undefined;
    return edits.flatMap((edit): EditAnswer[] => {
      const { _id: id } = edit;
      if (isDevice) this.files?.arrived(browser, edit);
      const isPoisoned = tokensIn(edit).some((token) => token.endsWith('!'));
      if (isDevice && this.#habits.refuses && isPoisoned)
        return [{ id, error: 'forbidden', reason: 'poison' }];
      const before = this.model.placeOf(id);
      const branches = this.model.branches(id);
      const leaves = branches.map(({ _rev }) => this.model.attachments(id, _rev));
      const result = this.model.write([edit], isNew);
      if (this.model.placeOf(id) === before) return result;
      const rev = result[0]?.rev ?? (edit._rev as string);
      this.files?.written({ edit, rev, browser, before: leaves });
      if (isLate || !isNew || before > place || epoch !== this.epoch) this.late.add(id);
      for (const token of tokensIn(decoded({ _rev: '1-x', ...edit }))) this.accepted.add(token);
      if (branches.length > 1) this.#noteMerge(branches, this.model.branches(id), isDevice);
      this.#publish();
      return result;
    });
  }

  /** A branch that is gone: of the winner's fields, the winner's values stay. */
  #noteMerge(before: readonly CouchJson[], after: readonly CouchJson[], isDevice: boolean): void {
    const revisions = new Set(after.map(({ _rev }) => _rev));
    const [winner] = after;
    const fields: object = winner ? decoded(winner) : {};
    for (const gone of before.filter(({ _rev }) => !revisions.has(_rev)))
      for (const [name, value] of Object.entries(decoded(gone)))
        if (!isDevice || !winner || Object.hasOwn(fields, name))
          for (const token of tokensIn(value)) this.#lost.add(token);
  }

  #publish(): void {
    const { commit } = this.#habits;
    const { model, epoch } = this;
    const state = model.copy();
    const arrive = () => {
      if (epoch !== this.epoch || state.seq <= this.#node.seq) return;
      this.#node.restore(state);
      this.#ring();
    };
    const ms = this.#world.random.between(0, commit);
    if (commit === 0) arrive();
    else this.#world.after(ms, undefined, arrive);
  }

  #ring(): void {
    this.changes++;
    for (const ring of [...this.#rings]) ring();
  }

  #tokens(): Set<string> {
    const { model } = this;
    return new Set(model.ids().flatMap((id) => tokensIn(model.branches(id).map(decoded))));
  }

  #opaque(seq: number): string | number {
    return this.isPouch ? seq : `${seq}-${btoa(`g1AAAA ${seq}`)}`;
  }

  #numberOf(key: string): number {
    const number = this.#keys.get(key) ?? this.#keys.size;
    this.#keys.set(key, number);
    return number;
  }
}

/** As a client of Cairn reads a document. */
export function decoded(document: CouchJson): object {
  return fromCouch(document as Parameters<typeof fromCouch>[0]).document ?? {};
}

/** The rows of a push; merges of branches are none. */
export function pushedRows(asked: CouchRequest) {
  return (editsIn(asked) ?? [])
    .filter((one) => pushKeyOf(one as never) !== undefined)
    .map((one) => fromCouch({ _rev: '1-x', ...one }))
    .map(({ id, document }) => ({
      ...{ id, base: undefined, document: document ?? undefined, key: '' },
    }));
}

/** The documents that a request writes. */
function editsIn({ path, body }: CouchRequest): readonly CouchJson[] | undefined {
  if (path === '/_bulk_docs') return body.docs;
  return body && !path.startsWith('/_') ? [body] : undefined;
}

/** Whether the winner has all that other branches have attached. */
function areMergeable([winner, ...losers]: readonly CouchJson[]): boolean {
  const digests = ({ _attachments = {} }: CouchJson) =>
    Object.entries(_attachments as object).map(([name, { digest }]) => `${name} ${digest}`);
  const kept = new Set(winner && digests(winner));
  return losers.length > 0 && losers.flatMap(digests).every((one) => kept.has(one));
}

function seen(answer: CouchAnswer): SeenAnswer {
  return { ...answer, documents: documentsIn(answer.body) };
}

function documentsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  const { _id, _rev } = value as Partial<CouchJson>;
  if (_id !== undefined && _rev !== undefined && !_id.startsWith('_local/'))
    return [decoded(value as CouchJson)];
  return Object.values(value).flatMap(documentsIn);
}

function swap<T>(list: T[], a: number, b: number): void {
  [list[a], list[b]] = [list[b] as T, list[a] as T];
}
