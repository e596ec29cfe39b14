import { CairnError } from './cairn-error.ts';

/** Codes of {@link MigrationError}. */
export type MigrationErrorCode = 'migration_failed';

/** The documents of a collection could not be migrated; `place` is the id or key of the document. Nothing was changed. */
export class MigrationError extends CairnError<MigrationErrorCode> {
  static {
    this.prototype.name = 'MigrationError';
  }

  /** The version whose step failed; the last where the result of all steps is refused. */
  declare readonly version: number;
}

/** A migration to a version that failed. */
export function migrationFailed(
  version: number,
  message: string,
  place: string | undefined,
  cause: unknown,
): MigrationError {
  const error = new MigrationError('migration_failed', message, { place, cause });
  return Object.assign(error, { version });
}
