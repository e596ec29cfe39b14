import type { FileCodec } from './file-contents.ts';
import { readFile } from './read-file.ts';
import { writeFile } from './section-writer.ts';

export const threadCodec: FileCodec = { write: writeFile, read: readFile };
