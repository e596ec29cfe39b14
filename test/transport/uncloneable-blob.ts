/** A Blob like that of a polyfill: instanceof accepts it, structured clone does not. */
class Blob {
  readonly size = 0;
  readonly text = () => '';

  get [Symbol.toStringTag](): string {
    return 'Blob';
  }
}

export const uncloneableBlob = (): object => new Blob();
