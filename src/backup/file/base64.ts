/** Arguments that a call can have in every browser. */
const ARGUMENTS = 32 * 1024;

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += ARGUMENTS) {
    binary += String.fromCharCode(...bytes.subarray(at, at + ARGUMENTS));
  }
  return btoa(binary);
}

/** @throws {DOMException} for what is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
