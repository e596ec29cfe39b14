import { expect, inject, test } from 'vitest';
import { Random } from '../../setup/random.ts';
import { type CouchJson, CouchModel, type EditAnswer } from '../../simulation/couch-model.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';

const server = useCouchServer();

const IDS = ['a', 'b', 'c'];
const STEPS = 80;

/** A database of the server and the model of the simulation, which get the same requests. */
class Both {
  readonly revisions = new Map<string, string[]>(IDS.map((id) => [id, []]));
  readonly #database: CouchTestDatabase;
  readonly #model: CouchModel;
  /** The hashes of revisions that the server has made: the model takes them. */
  readonly #hashes: string[] = [];
  readonly #places: [server: unknown, model: unknown] = [0, 0];

  constructor(database: CouchTestDatabase, isPouch: boolean) {
    this.#database = database;
    this.#model = new CouchModel({ isPouch, hash: () => this.#hashes.shift() ?? 'refused' });
  }

  async write(docs: readonly object[], options: { readonly new_edits?: false } = {}) {
    const made: EditAnswer[] = await this.#database.write(docs, options);
    for (const { id, rev } of made) {
      if (rev === undefined) continue;
      this.#hashes.push(rev.slice(rev.indexOf('-') + 1));
      this.revisions.get(id as string)?.push(rev);
    }
    const { body } = this.#ask('/_bulk_docs', structuredClone({ docs, ...options }));
    const short = (results: any) => results.map(({ id, rev, error }: any) => [id, rev ?? error]);
    expect(short(body)).toEqual(short(made));
  }

  async read(path: string, body: object | undefined, take: (answer: any) => unknown) {
    const method = body ? 'POST' : 'GET';
    const there = await this.#database.call(method, path, body);
    expect(take(this.#ask(path, body).body)).toEqual(take(there));
  }

  async changes(limit: number, isAnew: boolean) {
    const [since, ours] = isAnew ? [0, 0] : this.#places;
    const path = `/_changes?include_docs=true&conflicts=true&limit=${limit}&since=`;
    const there = await this.#database.call('GET', path + encodeURIComponent(String(since)));
    const { body } = this.#ask(path + ours, undefined);
    const rows = ({ results }: any) =>
      results.map(({ id, changes, deleted, doc }: any) => [id, changes, deleted, plain(doc)]);
    expect(rows(body)).toEqual(rows(there));
    if (there.pending !== undefined) expect(body).toHaveProperty('pending', there.pending);
    this.#places.splice(0, 2, there.last_seq, (body as any).last_seq);
  }

  history(id: string, rev: string) {
    return this.#model.history(id, rev);
  }

  get(id: string): CouchJson | undefined {
    return this.#model.get(id);
  }

  /** Both answer with the same bytes of an attachment, or have none. */
  async file(id: string, name: string) {
    const response = await this.#database.file(id, name);
    const { status, attachment } = this.#ask(`/${id}/${name}`, undefined);
    expect(status).toBe(response.status);
    if (response.ok) expect(attachment?.data).toEqual(Buffer.from(await response.arrayBuffer()));
  }

  #ask(target: string, body: unknown) {
    const { pathname: path, searchParams: query } = new URL(target, 'https://model');
    return this.#model.handle({ path, query, body });
  }
}

function plain({ _conflicts, ...doc }: any) {
  return { ...doc, ...(_conflicts && { conflicts: _conflicts.toSorted() }) };
}

const FILES = ['one.png', 'two.txt'];

function file(name: string, nth: number) {
  const data = Buffer.from(`content ${nth % 3}`).toString('base64');
  return { [name]: { content_type: 'image/png', data } };
}

/** Does one thing that clients or other programs do. */
async function step(both: Both, random: Random, nth: number): Promise<void> {
  const id = random.pick(IDS);
  const known = both.revisions.get(id) as string[];
  const winner = both.get(id);
  const some = known.length > 0 ? random.pick(known) : '1-unknown';
  const kind = random.below(11);
  if (kind < 5) {
    const _rev = random.pick([winner?._rev, winner?._rev, some, undefined]);
    const isDeleted = random.chance(0.3);
    const stubs = _rev && _rev === winner?._rev && random.chance(0.7) && winner._attachments;
    const files = {
      ...(stubs as object),
      ...(random.chance(0.3) && file(random.pick(FILES), nth)),
    };
    const hasFiles = !isDeleted && Object.keys(files).length > 0;
    // PouchDB takes longer for a document with files: another one comes before it.
    const others = !hasFiles && random.chance(0.2) ? [{ _id: `new ${nth}`, nth }] : [];
    const edit = {
      ...{ _id: id, ...(_rev && { _rev }), n: nth, ...(isDeleted && { _deleted: true }) },
      ...(hasFiles && { _attachments: files }),
    };
    await both.write([edit, ...others]);
  } else if (kind === 5) {
    const { start, ids } = both.history(id, some);
    const depth = random.below(ids.length + 1);
    const made = Array.from({ length: 1 + random.below(2) }, () => `${random.below(1e9)}`);
    const _revisions = { start: start - depth + made.length, ids: [...made, ...ids.slice(depth)] };
    const _rev = `${_revisions.start}-${_revisions.ids[0]}`;
    const isDeleted = random.chance(0.2);
    await both.write(
      [
        {
          ...{ _id: id, _rev, _revisions, branch: nth, ...(isDeleted && { _deleted: true }) },
          ...(!isDeleted && random.chance(0.5) && { _attachments: file(random.pick(FILES), nth) }),
        },
      ],
      { new_edits: false },
    );
    known.push(_rev);
  } else if (kind === 6)
    await both.read('/_all_docs?include_docs=true', { keys: [...IDS, 'none'] }, ({ rows }) =>
      rows.map(({ key, value, error, doc }: any) => [key, value, error, doc]),
    );
  else if (kind === 7)
    await both.read(
      '/_bulk_get?revs=true',
      { docs: [...known.map((rev) => ({ id, rev })), { id, rev: '9-none' }] },
      ({ results }) => results.map(({ docs: [one] }: any) => one.ok ?? 'none'),
    );
  else if (kind === 8)
    await both.read('/_revs_diff', { [id]: [some, '9-none'] }, (missing) => missing[id]?.missing);
  else if (kind === 9) await both.file(id, random.pick(FILES));
  else await both.changes(random.pick([2, 100]), random.chance(0.3));
}

test.each([1, 2, 3, 4])(
  'the model of the simulation answers as the server, run %i',
  async (nth) => {
    const { isReal } = server();
    const both = new Both(await CouchTestDatabase.create(server()), !isReal);
    const random = new Random(inject('seed') + nth);
    for (let at = 0; at < STEPS; at++) await step(both, random, at);
    await both.changes(100, true);
  },
);
