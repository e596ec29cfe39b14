import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';

/** @type {Map<Buffer, number>} */
const zipped = new Map();

/** @param {Buffer} content */
function zippedSize(content) {
  const size = zipped.get(content) ?? gzipSync(content, { level: 9 }).length;
  zipped.set(content, size);
  return size;
}

/** Files of the benchmark itself, which every page loads. */
const COMMON = /\/benchmark\.js$|\.html$/;

/**
 * kB that a page and its workers loaded beyond the benchmark. @param {ReadonlyMap<string, Buffer>}
 * loaded
 */
export function measureBundle(loaded) {
  let script = 0;
  let rest = 0;
  for (const [path, content] of loaded) {
    if (COMMON.test(path)) continue;
    if (extname(path) === '.js') script += zippedSize(content);
    else rest += zippedSize(content);
  }
  return { JavaScript: script / 1_000, 'WebAssembly and its data': rest / 1_000 };
}
