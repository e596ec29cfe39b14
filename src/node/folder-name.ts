import { createHash } from 'node:crypto';

/** File systems take 255 bytes. */
const LONGEST = 120;
const KEPT = 40;

/** Names of devices on Windows. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * The name of the folder of a database. Different names have different folders everywhere: on file systems that ignore case
 * or normalise Unicode, too.
 *
 * | Name | Folder |
 * |---|---|
 * | `shop-2` | `shop-2` |
 * | `Shop` | `%53hop` |
 * | `\\ud800` alone | `%ud800` |
 * | 128 times `Ä` | `%c3%84…~` and a SHA-256 |
 */
export function folderNameOf(database: string): string {
  if (database === '') return '%';
  let name = '';
  for (const sign of database) name += /^[a-z0-9_-]$/.test(sign) ? sign : coded(sign);
  if (RESERVED.test(name)) return hex(name.charCodeAt(0)) + name.slice(1);
  if (name.length <= LONGEST) return name;
  const digest = createHash('sha256').update(name).digest('hex');
  return `${name.slice(0, KEPT)}~${digest}`;
}

/** UTF-8 has no half of a surrogate pair, and would make one name of all. */
function coded(sign: string): string {
  if (/^[\ud800-\udfff]$/.test(sign)) return `%u${sign.charCodeAt(0).toString(16)}`;
  return Array.from(new TextEncoder().encode(sign), hex).join('');
}

function hex(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}
