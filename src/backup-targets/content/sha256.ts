import { toHex } from '../../codec/exact-json/base64.ts';
import { fileUnsupported } from '../../codec/exact-json/json-checks.ts';

/**
 * SHA-256 in hexadecimal digits.
 *
 * @throws {BackupError} `file_unsupported` in insecure contexts.
 */
export async function sha256(bytes: Uint8Array | string): Promise<string> {
  const { subtle } = globalThis.crypto ?? {};
  if (!subtle) throw fileUnsupported('WebCrypto (pages have it over https and on localhost)');
  const given = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes;
  return toHex(new Uint8Array(await subtle.digest('SHA-256', given as Uint8Array<ArrayBuffer>)));
}
