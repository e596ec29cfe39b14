type Bytes = Uint8Array<ArrayBuffer>;

/** @param size Of all parts together. */
export function joinBytes(parts: readonly Bytes[], size: number): Bytes {
  const [only] = parts;
  if (only?.length === size) return only;
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
