import type { DatabaseClient, DocumentCollectionOptions } from '../../src/index.ts';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { callDocuments, withoutManaged } from './document-calls.ts';
import { type DocumentCommand, DocumentModel, type DocumentState } from './document-model.ts';
import type { Subject } from './world.ts';

type Documents = DocumentCollection<any>;

/** Documents, and an array of them. */
export class DocumentSubject implements Subject<Documents, DocumentCommand, DocumentState> {
  readonly #model = new DocumentModel();

  open(
    client: DatabaseClient,
    caching: boolean,
    options: Partial<DocumentCollectionOptions> = {},
  ): Documents {
    return new client.Collection<any>({
      name: 'documents',
      type: 'DOCUMENT_BASED',
      caching,
      indicate_created_timestamp: true,
      indicate_updated_at: true,
      indicate_archived_timestamp: true,
      indicate_unarchived_at: true,
      ...options,
    });
  }

  get state(): DocumentState {
    return this.#model.state;
  }

  set state(state: DocumentState) {
    this.#model.state = state;
  }

  bind(command: DocumentCommand): DocumentCommand {
    const idAt = (pick: number) => this.#model.idAt(pick);
    if (command.op === 'getMany') return { ...command, ids: command.picks.map(idAt) };
    return 'pick' in command ? { ...command, id: idAt(command.pick) } : command;
  }

  model(command: DocumentCommand, now: number, answer: unknown): unknown {
    return this.#model.apply(withoutManaged(command), now, answer);
  }

  real(collection: Documents, command: DocumentCommand): unknown {
    return callDocuments(collection, command);
  }

  sync(collection: Documents, command: DocumentCommand): unknown {
    return callDocuments(collection.sync, command);
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
