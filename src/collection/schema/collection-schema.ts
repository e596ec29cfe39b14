import type { FilePart } from '../../backup/file/file-contents.ts';
import type { Body } from '../../codec/body.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { ValueError } from '../../errors/value-error.ts';
import { SchemaCheck } from './schema-check.ts';

type Records = Extract<FilePart, { readonly kind: 'records' }>;

/** The schema of a collection of either type. */
export abstract class CollectionSchema extends SchemaCheck {
  /** Passes an encoded document or value through the schema. */
  protected abstract importedBody(body: Body): Body;

  /** Passes a document as it travels through the schema. */
  protected abstract passReplicated(document: object): void;

  /** Why the schema refuses a document that replication has stored all the same; `undefined` if it does not. */
  refusalOf(document: object): CairnError | undefined {
    try {
      this.passReplicated(document);
      return undefined;
    } catch (error) {
      return asCairnError(error);
    }
  }

  /** Passes the records of a file through the schema. @throws {ValueError} `schema_violation` naming the id or key */
  importedPart({ records, ...part }: Records): Records {
    const checked = records.map((record) => ({
      ...record,
      body: named(record.key, () => this.importedBody(record.body)),
    }));
    return { ...part, records: checked };
  }
}

/** Names the id or key of what is refused, and with it the refusal of all. */
export function named<T>(key: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof ValueError) error.message += ` It is the one with the id "${key}".`;
    throw error;
  }
}
