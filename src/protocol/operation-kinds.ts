// What operations do: the bits of their rows.

/** It changes nothing: there is nothing to save or to report after it. */
export const READS = 1;
/** It changes documents or values. */
export const EDITS = 2;
/** It holds the queue: while it waits, later requests wait too. */
export const HOLDS_QUEUE = 4;
/** It is about backups, and queues. */
export const ON_BACKUPS = 8;
/**
 * It is a part of a file, executed at once: a file may be imported into the collection that exports
 * it.
 */
export const PART_OF_FILE = 16;
/** Handles of any version may ask for it: it migrates, undoes a migration, or ends something. */
export const ANY_VERSION = 32;
/** A collection that is opening may answer it from its checkpoint. */
export const FIRST_READ = 64;
/** Parts follow that belong to it. */
export const FED = 128;
/**
 * It replaces only the version that it names; the reply is `false` where there is another by now.
 */
export const COMPARED = 256;
/** It is about a replica, and waits for storage. */
export const OF_REPLICA = 512;
/** It waits for storage, or for others: a batch with it would be answered as late. */
export const WAITS = 1024;
/** It is about documents, and its code is the part `updates`: few sessions ask for it. */
export const IN_UPDATES = 2048;

/** An edit that may have to read before it writes. An `insert` never waits. */
export const READING_EDIT = EDITS | HOLDS_QUEUE;
