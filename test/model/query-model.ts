import { parseCollation } from '../../src/api/options/collation.ts';
import { compileCriteria } from '../../src/query/criteria/compile-criteria.ts';
import { compileSelect } from '../../src/query/projection.ts';
import { compileSort } from '../../src/query/sort/compile-sort.ts';
import { equalValues } from '../../src/query/value/compare-values.ts';
import { DocumentModel, type DocumentState } from './document-model.ts';
import type { Asking, QueryCommand } from './query-commands.ts';
import '../setup/rare-operators.ts';

/** A collection with a unique index on `u`, as an array that every question looks through. */
export class QueryModel {
  readonly #documents = new DocumentModel();

  get state(): DocumentState {
    return this.#documents.state;
  }

  set state(state: DocumentState) {
    this.#documents.state = state;
  }

  documents(): object[] {
    return this.#documents.documents();
  }

  bind(command: QueryCommand): QueryCommand {
    if (command.op === 'ask') {
      const documents = this.documents() as { _id: string }[];
      const { anchor } = command;
      if (anchor === undefined || documents.length === 0) return command;
      return { ...command, after: documents[anchor % documents.length] };
    }
    return 'pick' in command ? { ...command, id: this.#documents.idAt(command.pick) } : command;
  }

  /** As {@link DocumentModel.apply}. */
  apply(command: QueryCommand, now: number, answer: unknown): unknown {
    const before = this.state;
    const result =
      command.op === 'ask'
        ? this.#ask(command, now)
        : this.#documents.apply(command, now, withIds(answer));
    if (isUnique(this.state)) return result;
    this.state = before;
    return { code: 'unique_violation' };
  }

  #ask(asking: Asking, now: number): unknown {
    const { by, options } = asking;
    const found = this.#matching(asking);
    if (typeof found === 'string') return { code: found };
    const project = options.select && compileSelect(options.select);
    const shown = project ? found.map(project) : found;
    switch (by) {
      case 'find':
        return shown[0];
      case 'has':
        return found.length > 0;
      case 'count':
      case 'explain':
        return found.length;
      case 'patchMany': {
        const ids = found.map(({ _id }) => ({ id: _id }));
        return this.#documents.patchAll(ids, asking.changes as object, now);
      }
      case 'deleteMany': {
        const doomed = new Set(found.map(({ _id }) => _id));
        this.state = this.state.filter(({ id }) => !doomed.has(id));
        return doomed.size;
      }
      default:
        return shown;
    }
  }

  /** The results, or the code of the error. */
  #matching({ by, criteria, options, after }: Asking): { _id: string }[] | string {
    const { archived, sort, skip = 0, limit = Number.POSITIVE_INFINITY } = options;
    const collation = parseCollation(options.collation, 'collation');
    const { test } = compileCriteria(criteria, collation);
    const order = sort && compileSort(sort, collation);
    const ranked = (this.documents() as { _id: string; _archived: boolean }[]).map(
      (document, rank) => ({ document, rank, key: order?.keyOf(document) }),
    );
    const compare = (a: { rank: number; key?: unknown }, b: { rank: number; key?: unknown }) =>
      order?.compare(a.key, b.key) || a.rank - b.rank;
    let results = ranked
      .filter(({ document }) => archived === true || document._archived === (archived === 'only'))
      .filter(({ document }) => test(document))
      .sort(compare);
    if (after) {
      const rank = ranked.findIndex(({ document }) => document._id === after._id);
      if (rank < 0) return 'after_unknown';
      const end = { rank, key: order?.keyOf(after) };
      results = results.filter((result) => compare(result, end) > 0);
    }
    const documents = results.map(({ document }) => document);
    return by === 'pages' ? documents : documents.slice(skip, skip + limit);
  }
}

/** The answer, or stand-ins for the ids that it would have had. */
function withIds(answer: unknown): unknown {
  if (!(answer as { code?: string } | undefined)?.code) return answer;
  return Object.assign(
    Array.from({ length: 12 }, (_, at) => ({ _id: `?${at}` })),
    { _id: '?' },
  );
}

/** Whether no two documents have the same `u`; null, missing and arrays take no part. */
function isUnique(state: DocumentState): boolean {
  const values = state
    .map(({ fields }) => fields.u ?? null)
    .filter((value) => value !== null && !Array.isArray(value));
  return values.every((value, at) => values.findIndex((other) => equalValues(other, value)) === at);
}
