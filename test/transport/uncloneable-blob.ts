/** A Blob as some polyfill has it: it passes for one, and no message can carry it. */
class Blob {
  readonly size = 0;
  readonly text = () => '';

  get [Symbol.toStringTag](): string {
    return 'Blob';
  }
}

export const uncloneableBlob = (): object => new Blob();
