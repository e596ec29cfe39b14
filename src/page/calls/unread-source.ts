/** Cancels the source of an import that was refused before it took the source. */
export function cancelUnread<T>(source: unknown, importing: Promise<T>): Promise<T> {
  importing
    .catch((error: unknown) => {
      const stream = source as ReadableStream | undefined;
      // An import that has taken it holds the lock, and cancels it.
      return stream?.locked === false ? stream.cancel(error) : undefined;
    })
    // The source is not needed any more; its errors do not matter.
    .catch(() => undefined);
  return importing;
}
