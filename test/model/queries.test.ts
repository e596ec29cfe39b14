import { test } from 'vitest';
import type { DatabaseClient, IndexOption } from '../../src/index.ts';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { fc, runs } from '../setup/properties.ts';
import { callDocuments, withoutManaged } from './document-calls.ts';
import type { DocumentState } from './document-model.ts';
import { type Asking, declarations, type QueryCommand, querySteps } from './query-commands.ts';
import { QueryModel } from './query-model.ts';
import { runSteps, type Subject } from './world.ts';

type Documents = DocumentCollection<any, any>;

/** Documents to a page. */
const PAGE = 2;

class QuerySubject implements Subject<Documents, QueryCommand, DocumentState> {
  readonly #model = new QueryModel();
  readonly #declarations: readonly IndexOption[][];
  #opened = 0;

  constructor(indexes: readonly IndexOption[][]) {
    this.#declarations = indexes;
  }

  open(client: DatabaseClient, caching: boolean): Documents {
    const declared = this.#declarations[this.#opened++ % this.#declarations.length];
    return new client.Collection<any>({
      name: 'documents',
      type: 'DOCUMENT_BASED',
      caching,
      indicate_created_timestamp: true,
      indicate_updated_at: true,
      indicate_archived_timestamp: true,
      indicate_unarchived_at: true,
      indexes: [...(declared ?? []), { fields: 'u', unique: true }],
    });
  }

  get state(): DocumentState {
    return this.#model.state;
  }

  set state(state: DocumentState) {
    this.#model.state = state;
  }

  bind(command: QueryCommand): QueryCommand {
    return this.#model.bind(command);
  }

  model(command: QueryCommand, now: number, answer: unknown): unknown {
    return this.#model.apply(command.op === 'ask' ? command : withoutManaged(command), now, answer);
  }

  real(collection: Documents, command: QueryCommand): unknown {
    return command.op === 'ask' ? ask(collection, command) : callDocuments(collection, command);
  }

  sync({ sync }: Documents, command: QueryCommand): unknown {
    if (command.op !== 'ask') return callDocuments(sync, command);
    const { by } = command;
    const { params, options } = optionsOf(command);
    if (by === 'patchMany') return sync.patchMany(params, command.changes as object, options);
    if (by === 'explain') return sync.count(params, options);
    if (by === 'each') return sync.filter(params, options);
    if (by !== 'pages') return sync[by](params, options);
    const found: object[] = [];
    for (let { after } = options; ; after = found.at(-1)) {
      const page = sync.filter(params, { ...options, after, skip: 0, limit: PAGE });
      found.push(...page);
      if (page.length < PAGE) return found;
    }
  }

  contents(collection: Documents): Promise<unknown> {
    return collection.filter({}, { archived: true });
  }

  expected(state: DocumentState): unknown {
    const model = new QueryModel();
    model.state = state;
    return model.documents();
  }
}

function optionsOf({ criteria, options, after, where, by }: Asking): any {
  // A function has no part in a plan.
  const passes = where && by !== 'explain' ? { where: () => true } : {};
  return { params: criteria, options: { ...options, ...(after && { after }), ...passes } };
}

async function ask(collection: Documents, command: Asking): Promise<unknown> {
  const { by } = command;
  const { params, options } = optionsOf(command);
  const found: object[] = [];
  switch (by) {
    case 'patchMany':
      return collection.patchMany(params, command.changes as object, options);
    case 'explain':
      return (await collection.explain(params, options)).returned;
    case 'each':
      for await (const document of collection.each(params, options)) found.push(document);
      return found;
    case 'pages':
      for (let { after } = options; ; after = found.at(-1)) {
        const page = await collection.filter(params, { ...options, after, skip: 0, limit: PAGE });
        found.push(...page);
        if (page.length < PAGE) return found;
      }
    default:
      return collection[by](params, options);
  }
}

test.each([true, false])(
  'any question to indexed documents is answered as by an array, caching %s at first',
  async (caching) => {
    await fc.assert(
      fc.asyncProperty(declarations, querySteps, (indexes, script) =>
        runSteps(new QuerySubject(indexes), script, caching),
      ),
      runs(300),
    );
  },
);
