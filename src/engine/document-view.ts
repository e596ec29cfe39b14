import type { Body } from '../codec/body.ts';
import { compileCriteria } from '../query/criteria.ts';
import type { StoredRecord } from '../storage/stored-record.ts';
import { ARCHIVED, documentBuilder, MANAGED_FIELDS } from './managed.ts';
import type { ArchivedFilter, Selection } from './protocol.ts';
import { decodedValue, type RecordTest } from './scan.ts';
import type { CollectionSettings } from './settings.ts';

/** Shows a record to what looks inside: never to be changed or handed out. */
export type DocumentView = (record: StoredRecord, body: Body) => object;

/** @param roots First segments of the paths that will be looked at; without managed ones it costs less. */
export function viewFor(settings: CollectionSettings, roots: Iterable<string>): DocumentView {
  const keep = settings.caching;
  const fields: DocumentView = (record, body) => decodedValue(record, body, keep) as object;
  if (![...roots].some((root) => MANAGED_FIELDS.has(root))) return fields;
  const build = documentBuilder(settings);
  return (record, body) => build(record.key, record.flags, record.stamps, fields(record, body));
}

/** Whether a record is selected. */
export function testFor(
  settings: CollectionSettings,
  { criteria, archived }: Selection,
): RecordTest {
  const wanted = archivedTest(archived);
  if (!criteria) return wanted;
  const { test, roots } = compileCriteria(criteria);
  const view = viewFor(settings, roots);
  return (record, body) => wanted(record) && test(view(record, body));
}

export function archivedTest(archived: ArchivedFilter): (record: StoredRecord) => boolean {
  if (archived === true) return () => true;
  const wanted = archived === 'only' ? ARCHIVED : 0;
  return (record) => (record.flags & ARCHIVED) === wanted;
}
