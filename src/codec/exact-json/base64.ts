/** Arguments per call: within the limit of every browser, and faster than more. */
const ARGUMENTS = 8 * 1024;

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += ARGUMENTS) {
    const some = bytes.subarray(at, at + ARGUMENTS);
    // Spread arguments take ten times as long.
    binary += String.fromCharCode.apply(null, some as unknown as number[]);
  }
  return btoa(binary);
}

/** @throws {DOMException} for invalid base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Bytes in hexadecimal digits, two each. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
