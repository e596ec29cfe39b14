/** A Blob like that of a polyfill: instanceof accepts it, structured clone does not. */
export const uncloneableBlob = (): object =>
  Object.create(Blob.prototype, {
    size: { value: 0 },
    text: { value: () => '', enumerable: true },
  });
