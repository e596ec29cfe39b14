/** Characters of the longest name of a collection or database. Keys of the storage begin with the name. */
export const MAX_NAME_LENGTH = 128;
