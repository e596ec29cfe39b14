import type { RelationOptions } from '../../api/options/collection-options.ts';
import type { StandardSchema } from '../../api/standard-schema.ts';
import { loadFailed } from '../../errors/errors.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import { DocumentSchema, ValueSchema } from '../schemas.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import type { CommonCalls } from './common-calls.ts';
import type { DocumentCalls } from './document-calls.ts';
import { KeyValueCalls } from './key-value-calls.ts';
import type { PartnerOf } from './relation-tree.ts';

/** A handle whose calls need code that others do not. */
export interface ExtendedHandle {
  readonly calls: CommonCalls;
  readonly channel: HandleChannel;
  readonly settings: CollectionSettings;
  /** As the caller has given it. */
  readonly schema: StandardSchema | undefined;
  /** As the caller has given them. */
  readonly relations: RelationOptions | undefined;
  /** Opens the partners of relations. */
  readonly partnerOf: PartnerOf;
}

/** Gives the calls of a handle what most collections do not have; its code loads now. */
export async function extendCalls(handle: ExtendedHandle): Promise<void> {
  const { calls, schema, settings, relations } = handle;
  if (settings.type === 'KEY_VALUE_BASED') Object.setPrototypeOf(calls, KeyValueCalls.prototype);
  if (settings.indexes.some(({ special }) => special)) await addSearch(handle);
  if (relations) await addRelations(handle, relations);
  if (schema) addSchema(handle, schema);
}

async function addSearch({ calls, channel, settings }: ExtendedHandle): Promise<void> {
  const { searchParser } = await import('./search-calls.ts').catch(loadFailed);
  const parse = searchParser(settings);
  channel.parseSearch = parse;
  (calls as DocumentCalls<object>).parseSearch = parse;
}

async function addRelations(
  { calls, channel, settings, partnerOf }: ExtendedHandle,
  relations: RelationOptions,
): Promise<void> {
  const { relate } = await import('./related-calls.ts').catch(loadFailed);
  const related = { name: settings.name, relations, partnerOf };
  relate(calls as DocumentCalls<object>, channel, settings, related);
}

function addSchema({ calls, channel, settings }: ExtendedHandle, given: StandardSchema): void {
  const Schema = settings.type === 'DOCUMENT_BASED' ? DocumentSchema : ValueSchema;
  calls.schema = new Schema(given);
  channel.schema = calls.schema;
}
