/** Characters of the longest name of a collection or database. Keys of the storage begin with the name. */
export const MAX_NAME_LENGTH = 128;

/** Names of logs that are no collections begin with this. */
export const HIDDEN = '\u0000';
