import { type Body, peek } from '../../codec/body.ts';
import { isManaged } from '../../engine/protocol/managed.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import { type IndexKey, type KeyColumns, keyName, keyReader } from '../../query/index/index-key.ts';

/** Reads the index keys of encoded documents, from bodies and fields by column. */
export type ReadKeys = (bodies: readonly Body[], fields: readonly object[]) => KeyColumns;

/**
 * Compiles the reader of the keys of a collection's indexes. The client has the fields while it encodes; the engine
 * would have to decode each body.
 *
 * @returns `undefined` without indexes. An index over managed fields has no column: the engine makes these.
 */
export function indexKeysReader({ indexes }: CollectionSettings): ReadKeys | undefined {
  const readers = indexes
    .filter(({ fields }) => !fields.some(isManaged))
    .map((definition) => [keyName(definition), keyReader(definition)] as const);
  if (readers.length === 0) return undefined;
  return (bodies, fields) => {
    const documents = fields.map((own, at) => readable(bodies[at] as Body, own));
    const columns: Record<string, IndexKey[]> = {};
    for (const [name, read] of readers) columns[name] = documents.map(read);
    return columns;
  };
}

/** The caller gets the fields and may change a Date in them; the body of JSON has none. */
function readable(body: Body, fields: object): object {
  return typeof body === 'string' ? fields : (peek(body) as object);
}
