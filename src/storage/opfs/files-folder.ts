import { toHex } from '../../codec/hex.ts';

/** The folder of all databases in the origin private file system. */
export const FOLDER = 'cairndb';

/** The folder of one database in {@link FOLDER}: its name may have any characters, the name of a folder not. */
export async function folderOf(database: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(database));
  return toHex(new Uint8Array(digest));
}
