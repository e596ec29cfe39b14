import fc from 'fast-check';
import { test } from 'vitest';
import type { DocumentCollection } from '../../src/collection/document-collection.ts';
import type { Door } from '../../src/index.ts';
import { documentSteps, ownFields } from './document-commands.ts';
import {
  type DocumentCommand,
  DocumentModel,
  type DocumentState,
  type Question,
  queries,
} from './document-model.ts';
import { runSteps, type Subject } from './world.ts';

type Documents = DocumentCollection<any>;

class DocumentSubject implements Subject<Documents, DocumentCommand, DocumentState> {
  readonly #model = new DocumentModel();

  open(door: Door, caching: boolean): Documents {
    return new door.Collection<any>({
      name: 'documents',
      type: 'DOCUMENT_BASED',
      caching,
      indicate_created_timestamp: true,
      indicate_updated_at: true,
      indicate_archived_timestamp: true,
      indicate_unarchived_at: true,
    });
  }

  get state(): DocumentState {
    return this.#model.state;
  }

  set state(state: DocumentState) {
    this.#model.state = state;
  }

  bind(command: DocumentCommand): DocumentCommand {
    return 'pick' in command ? { ...command, id: this.#model.idAt(command.pick) } : command;
  }

  model(command: DocumentCommand, now: number, answer: unknown): unknown {
    return this.#model.apply(withoutManaged(command), now, answer);
  }

  real(collection: Documents, command: DocumentCommand): unknown {
    return call(collection, command);
  }

  sync(collection: Documents, command: DocumentCommand): unknown {
    return call(collection.sync, command);
  }

  contents(collection: Documents): Promise<unknown> {
    return collection.filter({}, { archived: true });
  }

  expected(state: DocumentState): unknown {
    const model = new DocumentModel();
    model.state = state;
    return model.documents();
  }
}

function call(collection: Documents | Documents['sync'], command: DocumentCommand): unknown {
  switch (command.op) {
    case 'insert':
    case 'upsert': {
      const { id, fields } = command;
      return collection[command.op](id === undefined ? fields : { ...fields, _id: id });
    }
    case 'insertMany':
      return collection.insertMany(command.documents as never);
    case 'update':
      return collection.update(command.id as string, command.fields);
    case 'patch':
      return collection.patch(command.id as string, command.changes as never);
    case 'archive':
    case 'unarchive':
    case 'delete':
    case 'get':
      return collection[command.op](command.id as string);
    default:
      return collection[command.op](paramsOf(command) as never, { archived: command.archived });
  }
}

function paramsOf({ query, asFunction }: Question): unknown {
  const { criteria, matches } = queries[query] as (typeof queries)[number];
  return asFunction ? matches : criteria;
}

function withoutManaged(command: DocumentCommand): DocumentCommand {
  switch (command.op) {
    case 'insert':
    case 'upsert':
    case 'update':
      return { ...command, fields: ownFields(command.fields) };
    case 'insertMany':
      return {
        ...command,
        documents: command.documents.map((document) => {
          const { _id } = document as { _id?: string };
          return { ...(_id === undefined ? {} : { _id }), ...ownFields(document) };
        }),
      };
    case 'patch':
      return { ...command, changes: ownFields(command.changes) };
    default:
      return command;
  }
}

test.each([true, false])(
  'documents behave as an array does, caching %s at first',
  async (caching) => {
    await fc.assert(
      fc.asyncProperty(documentSteps, (script) => runSteps(new DocumentSubject(), script, caching)),
      { numRuns: Number(process.env.MODEL_RUNS ?? 120) },
    );
  },
);
