/** Details of an error besides its message. */
export interface CairnErrorDetails {
  /** The place of the error: an option's name, a path inside a document, a collection. */
  readonly place?: string | undefined;
  /** The underlying error, such as a DOMException of IndexedDB. */
  readonly cause?: unknown;
}

/**
 * Base of every error that Cairn throws or rejects with.
 *
 * `code` is stable: it changes only with a major version. `message` is for people, says what to do, and may change at
 * any time.
 *
 * @example
 * ```ts
 * try {
 *   await users.insert({ _id: 'ada' });
 * } catch (error) {
 *   if (error instanceof CairnError && error.code === 'id_taken') await users.update('ada', {});
 *   else throw error;
 * }
 * ```
 */
export class CairnError<Code extends string = string> extends Error {
  static {
    this.prototype.name = 'CairnError';
  }

  readonly code: Code;
  readonly place: string | undefined;

  constructor(code: Code, message: string, details: CairnErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.place = details.place;
  }
}
