import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import { loadFailed } from '../../errors/load-failed.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import type { HandleChannel } from '../calls/handle-channel.ts';
import type { CollectionSchema } from './collection-schema.ts';
import type { StandardSchema } from './standard-schema.ts';

/** Loads the code of a handle's schema: collections without one do not need it. */
export class SchemaLoading {
  /** Of the collection. */
  readonly name: string;
  readonly #calls: CommonCalls;
  readonly #channel: HandleChannel;
  readonly #type: CollectionSettings['type'];
  readonly #given: StandardSchema;
  #loading: Promise<void> | undefined;

  constructor(
    calls: CommonCalls,
    channel: HandleChannel,
    { name, type }: CollectionSettings,
    schema: StandardSchema,
  ) {
    this.#channel = channel;
    this.name = name;
    this.#calls = calls;
    this.#type = type;
    this.#given = schema;
  }

  get schema(): CollectionSchema | undefined {
    return this.#calls.schema;
  }

  /** `undefined` once it is loaded. @throws {CairnError} `load_failed`; the next call tries again. */
  get loading(): Promise<void> | undefined {
    if (this.schema) return undefined;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const given = this.#given;
    if (this.#type === 'DOCUMENT_BASED') {
      const { DocumentSchema } = await import('./document-schema.ts').catch(loadFailed);
      this.#set(new DocumentSchema(given));
    } else {
      const { ValueSchema } = await import('./value-schema.ts').catch(loadFailed);
      this.#set(new ValueSchema(given));
    }
  }

  #set(schema: CollectionSchema): void {
    this.#calls.schema = schema;
    this.#channel.schema = schema;
  }
}
