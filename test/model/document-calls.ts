import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { countUp } from './changes.ts';
import { ownFields } from './document-commands.ts';
import { type DocumentCommand, type Question, queries } from './document-model.ts';

type Documents = DocumentCollection<any>;

/** Makes the call that a command stands for. */
export function callDocuments(
  collection: Documents | Documents['sync'],
  command: DocumentCommand,
): unknown {
  switch (command.op) {
    case 'insert':
    case 'upsert': {
      const { id, fields } = command;
      return collection[command.op](id === undefined ? fields : { ...fields, _id: id });
    }
    case 'insertMany':
    case 'upsertMany':
      return collection[command.op](command.documents as never);
    case 'patchMany':
    case 'patchOne': {
      const { changes, archived } = command;
      return collection[command.op](paramsOf(command) as never, changes as never, { archived });
    }
    case 'modify':
      return collection.modify(command.id as string, countUp as never);
    case 'getMany':
      return collection.getMany(command.ids as string[]);
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

/** The command without the managed fields, which a model keeps by itself. */
export function withoutManaged(command: DocumentCommand): DocumentCommand {
  switch (command.op) {
    case 'insert':
    case 'upsert':
    case 'update':
      return { ...command, fields: ownFields(command.fields) };
    case 'insertMany':
    case 'upsertMany':
      return {
        ...command,
        documents: command.documents.map((document) => {
          const { _id } = document as { _id?: string };
          return { ...(_id === undefined ? {} : { _id }), ...ownFields(document) };
        }),
      };
    case 'patch':
    case 'patchMany':
    case 'patchOne':
      return { ...command, changes: ownFields(command.changes) };
    default:
      return command;
  }
}
