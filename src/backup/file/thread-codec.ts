import type { FileCodec } from './file-contents.ts';
import { readFile } from './reading/read-file.ts';
import { writeFile } from './writing/write-file.ts';

/** Writes and reads files in the calling thread. */
export const threadCodec: FileCodec = { write: writeFile, read: readFile };
