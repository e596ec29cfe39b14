/** What `close()` waits for longer has lost its database. */
export const CLOSE_DEADLINE_MS = 2000;

/** Settles as the promise does, or rejects with the error made by `late` when it takes too long. */
export function withDeadline<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  return Promise.race([promise, deadline]).finally(() => clearTimeout(timer));
}
