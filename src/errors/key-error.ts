import { CairnError } from './cairn-error.ts';

/** Codes of {@link KeyError}. */
export type KeyErrorCode = 'key_invalid' | 'kind_mismatch' | 'paths_conflict';

/** A key or a path is malformed, conflicts with another, or leads to a value of the wrong kind. */
export class KeyError extends CairnError<KeyErrorCode> {
  static {
    this.prototype.name = 'KeyError';
  }
}
