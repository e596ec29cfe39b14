import type { StandardSchema } from '../../api/standard-schema.ts';
import { loadFailed } from '../../errors/errors.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CollectionSchema } from '../sending/collection-schema.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import type { CommonCalls } from './common-calls.ts';

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

  /**
   * `undefined` once it is loaded. @throws {CairnError} `load_failed`; the next call tries again.
   */
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
      const { DocumentSchema } = await import('../schemas.ts').catch(loadFailed);
      this.#set(new DocumentSchema(given));
    } else {
      const { ValueSchema } = await import('../schemas.ts').catch(loadFailed);
      this.#set(new ValueSchema(given));
    }
  }

  #set(schema: CollectionSchema): void {
    this.#calls.schema = schema;
    this.#channel.schema = schema;
  }
}
