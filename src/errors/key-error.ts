import { CairnError } from './cairn-error.ts';

/** Codes of {@link KeyError}. */
export type KeyErrorCode = 'key_invalid' | 'kind_mismatch';

/** The key of a key-value call is malformed, or what it leads to is of the wrong kind. */
export class KeyError extends CairnError<KeyErrorCode> {
  static {
    this.prototype.name = 'KeyError';
  }
}
