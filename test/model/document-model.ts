import { changed, countUp, isRefusal } from './changes.ts';

const isNumber = (n: unknown) => typeof n === 'number' || typeof n === 'bigint';

/** Criteria with what they mean, written out by hand. */
export const queries: readonly { criteria: any; matches: (document: any) => boolean }[] = [
  { criteria: {}, matches: () => true },
  { criteria: { n: 3 }, matches: ({ n }) => n === 3 },
  { criteria: { n: { $gte: 2 } }, matches: ({ n }) => isNumber(n) && n >= 2 },
  {
    criteria: { n: { $lt: 4 }, tag: 'x' },
    matches: ({ n, tag }) => isNumber(n) && n < 4 && tag === 'x',
  },
  { criteria: { list: 2 }, matches: ({ list }) => Boolean(list?.includes(2)) },
  {
    criteria: { 'deep.a': { $exists: true } },
    matches: ({ deep }) => typeof deep === 'object' && deep !== null && 'a' in deep,
  },
  { criteria: { _archived: true }, matches: ({ _archived }) => _archived },
  { criteria: { _updated: false, n: { $ne: 1 } }, matches: (d) => !d._updated && d.n !== 1 },
  { criteria: { _id: { $in: ['a', 'c', 'e'] } }, matches: (d) => 'ace'.includes(d._id) },
  {
    criteria: { $or: [{ tag: 'y' }, { at: { $type: 'date' } }] },
    matches: ({ tag, at }) => tag === 'y' || at instanceof Date,
  },
];

type Archived = boolean | 'only';

/** How a query is asked: by criteria or by function. */
export interface Question {
  readonly query: number;
  readonly archived: Archived;
  readonly asFunction: boolean;
}

/** What one document a command is about. */
interface Picking {
  readonly pick: number;
  /** The id that was picked, once the command is issued. */
  readonly id?: string;
}

export type DocumentCommand =
  | { readonly op: 'insert' | 'upsert'; readonly id: string | undefined; readonly fields: object }
  | { readonly op: 'insertMany' | 'upsertMany'; readonly documents: readonly object[] }
  | ({ readonly op: 'update'; readonly fields: object } & Picking)
  | ({ readonly op: 'patch'; readonly changes: object } & Picking)
  | ({ readonly op: 'archive' | 'unarchive' | 'delete' | 'get' | 'modify' } & Picking)
  | { readonly op: 'getMany'; readonly picks: readonly number[]; readonly ids?: readonly string[] }
  | ({ readonly op: 'patchMany' | 'patchOne'; readonly changes: object } & Question)
  | ({
      readonly op: 'find' | 'filter' | 'has' | 'count' | 'deleteMany' | 'deleteOne';
    } & Question);

interface Entry {
  readonly id: string;
  updated: boolean;
  archived: boolean;
  createdAt: number;
  updatedAt?: number;
  archivedAt?: number;
  unarchivedAt?: number;
  fields: Record<string, unknown>;
}

export type DocumentState = readonly Entry[];

/** A collection of documents as an array, done naively. */
export class DocumentModel {
  entries: Entry[] = [];

  get state(): DocumentState {
    return structuredClone(this.entries);
  }

  set state(state: DocumentState) {
    this.entries = structuredClone(state) as Entry[];
  }

  /** The id that a command picks: one of a few, there or not, or a generated one. */
  idAt(pick: number): string {
    const ids = [...'abcdefgh', ...this.entries.map(({ id }) => id)];
    return ids[pick % ids.length] as string;
  }

  documents(): object[] {
    return this.entries.map(documentOf);
  }

  /**
   * What the command answers, or `{ code }` of the error.
   *
   * @param answer The real answer: generated ids are taken from it.
   */
  apply(command: DocumentCommand, now: number, answer: any): unknown {
    switch (command.op) {
      case 'insert':
        return this.#insert(command.id ?? answer?._id, command.fields, now);
      case 'upsert': {
        const entry = this.#entry(command.id);
        if (entry) return this.#update(entry, { ...command.fields }, now);
        return this.#insert(command.id ?? answer?._id, command.fields, now);
      }
      case 'insertMany':
        return this.#insertMany(command.documents, now, answer);
      case 'upsertMany':
        return command.documents.map((document, at) => {
          const { _id, ...fields } = document as { _id?: string };
          const entry = this.#entry(_id);
          if (entry) return this.#update(entry, fields, now);
          return this.#insert(_id ?? answer?.[at]?._id, fields, now);
        });
      case 'update': {
        const entry = this.#entry(command.id);
        return entry && this.#update(entry, { ...command.fields }, now);
      }
      case 'patch': {
        const paths = Object.keys(command.changes);
        const isInside = (path: string) => paths.some((outer) => path.startsWith(`${outer}.`));
        if (paths.some(isInside)) return { code: 'paths_conflict' };
        const entry = this.#entry(command.id);
        return entry && this.#patch(entry, command.changes, now);
      }
      case 'archive':
      case 'unarchive':
        return this.#archive(this.#entry(command.id), command.op, now);
      case 'delete': {
        const entry = this.#entry(command.id);
        this.entries = this.entries.filter((other) => other !== entry);
        return entry !== undefined;
      }
      case 'modify': {
        const entry = this.#entry(command.id);
        if (!entry) return undefined;
        const fields = countUp(entry.fields);
        return fields ? this.#update(entry, fields, now) : documentOf(entry);
      }
      case 'get':
        return this.#shown(command.id);
      case 'getMany':
        return command.ids?.map((id) => this.#shown(id));
      case 'find':
        return this.#matching(command).map(documentOf)[0];
      case 'filter':
        return this.#matching(command).map(documentOf);
      case 'has':
        return this.#matching(command).length > 0;
      case 'count':
        return this.#matching(command).length;
      case 'patchMany':
        return this.patchAll(this.#matching(command), command.changes, now);
      case 'patchOne': {
        const [entry] = this.#matching(command);
        return entry && this.#patch(entry, command.changes, now);
      }
      case 'deleteOne': {
        const [entry] = this.#matching(command);
        this.entries = this.entries.filter((other) => other !== entry);
        return entry && documentOf(entry);
      }
      case 'deleteMany': {
        const doomed = new Set(this.#matching(command));
        this.entries = this.entries.filter((entry) => !doomed.has(entry));
        return doomed.size;
      }
    }
  }

  #shown(id: string | undefined): object | undefined {
    const entry = this.#entry(id);
    return entry && documentOf(entry);
  }

  #entry(id: string | undefined): Entry | undefined {
    return this.entries.find((entry) => entry.id === id);
  }

  #matching({ query, archived }: Question): Entry[] {
    const { matches } = queries[query] as (typeof queries)[number];
    return this.entries.filter(
      (entry) =>
        (archived === true || entry.archived === (archived === 'only')) &&
        matches(documentOf(entry)),
    );
  }

  #insert(id: string, fields: object, now: number): unknown {
    if (this.#entry(id)) return { code: 'id_taken' };
    const entry = {
      id,
      updated: false,
      archived: false,
      createdAt: now,
      fields: structuredClone(fields) as Entry['fields'],
    };
    this.entries.push(entry);
    return documentOf(entry);
  }

  #insertMany(documents: readonly object[], now: number, answer: any): unknown {
    const given = documents.map((document) => (document as { _id?: string })._id);
    const taken = given.some(
      (id, at) => id !== undefined && (this.#entry(id) || given.indexOf(id) !== at),
    );
    if (taken) return { code: 'id_taken' };
    return documents.map((document, at) => {
      const { _id, ...fields } = document as { _id?: string };
      return this.#insert(_id ?? answer?.[at]?._id, fields, now);
    });
  }

  #update(entry: Entry, fields: Entry['fields'], now: number): object {
    entry.fields = structuredClone(fields);
    entry.updated = true;
    entry.updatedAt = now;
    return documentOf(entry);
  }

  #patch(entry: Entry, changes: object, now: number): object {
    const fields = changed(entry.fields, changes);
    return isRefusal(fields) ? fields : this.#update(entry, fields, now);
  }

  /** Changes the documents with these ids, all or none. */
  patchAll(ids: readonly { readonly id: string }[], changes: object, now: number): unknown {
    const before = this.state;
    for (const { id } of ids) {
      const made = this.#patch(this.#entry(id) as Entry, changes, now);
      if (!('code' in made)) continue;
      this.state = before;
      return made;
    }
    return ids.length;
  }

  #archive(entry: Entry | undefined, op: 'archive' | 'unarchive', now: number): boolean {
    if (!entry || entry.archived === (op === 'archive')) return false;
    entry.archived = op === 'archive';
    if (op === 'archive') entry.archivedAt = now;
    else entry.unarchivedAt = now;
    return true;
  }
}

/** The document as a collection with the flags of the test shows it. */
function documentOf(entry: Entry): object {
  const { id, updated, archived, createdAt, updatedAt, archivedAt, unarchivedAt, fields } = entry;
  return {
    _id: id,
    _updated: updated,
    _archived: archived,
    _created_timestamp: createdAt,
    ...(updatedAt !== undefined && { _updated_at: new Date(updatedAt) }),
    ...(archivedAt !== undefined && { _archived_timestamp: archivedAt }),
    ...(unarchivedAt !== undefined && { _unarchived_at: new Date(unarchivedAt) }),
    ...structuredClone(fields),
  };
}
