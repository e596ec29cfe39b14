import type { Coroutine } from '../../async/coroutine.ts';
import { BackupError } from '../../errors/errors.ts';
import type { DocumentBuilder } from '../../protocol/managed.ts';
import { checkId } from '../sending/call-arguments.ts';
import { type EncodedDocument, ownFields, toDocument } from '../sending/documents.ts';
import { request, type Sender } from '../sending/sender.ts';
import { checkName } from './common-calls.ts';

/**
 * One reader for all, which reads a minute long: of many documents that are restored the first
 * opens the backup.
 */
const READER = 0;

/**
 * Puts a document of a backup back by an `upsert` that keeps its managed values. Later calls must
 * wait meanwhile.
 *
 * @param encode Passes it through the schema, if there is one.
 * @throws {BackupError} `document_unknown`, `backup_unknown`; {ValueError} `unique_violation`,
 *   `schema_violation`
 */
export function* restoreDocument(
  sender: Sender,
  build: DocumentBuilder,
  encode: (document: unknown, place: string) => EncodedDocument,
  [id, name, version]: readonly [id: unknown, backup: unknown, version: number],
): Coroutine<object> {
  checkId(id);
  const backup = checkName(name);
  const at = { backup, reader: READER, version };
  const found = yield* request(sender, { op: 'get', id, at });
  if (!found) throw documentUnknown(id, backup);
  const { body, fields } = encode(ownFields(toDocument(build, found)), 'document');
  const kept = { flags: found[1], stamps: found[2] };
  const [key, flags, stamps] = yield* request(sender, { op: 'upsert', id, body, kept });
  return build(key, flags, stamps, fields);
}

function documentUnknown(id: string, backup: string): BackupError {
  const message = `Backup "${backup}" has no document "${id}". Nothing was changed; at(backup).get(id) tells which backup has it.`;
  return new BackupError('document_unknown', message, { place: id });
}
