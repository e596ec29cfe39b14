/** Compares binary values as BSON does: by length, then by type, then byte by byte. */
export function compareBinary(
  a: ArrayBuffer | ArrayBufferView,
  b: ArrayBuffer | ArrayBufferView,
): number {
  return a.byteLength - b.byteLength || compareKinds(a, b) || compareBytes(bytesOf(a), bytesOf(b));
}

function compareKinds(a: object, b: object): number {
  const kindA = Object.prototype.toString.call(a);
  const kindB = Object.prototype.toString.call(b);
  if (kindA === kindB) return 0;
  return kindA < kindB ? -1 : 1;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let index = 0; index < a.length; index++) {
    const order = (a[index] as number) - (b[index] as number);
    if (order !== 0) return order;
  }
  return 0;
}

function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
}
