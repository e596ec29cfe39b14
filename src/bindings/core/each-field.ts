/**
 * Makes an object with the fields of a result, each by `show`. Its methods call those of the current result.
 *
 * @param start Has the names of all fields.
 */
export function eachField(
  start: object,
  current: () => object,
  show: (name: string) => unknown,
): object {
  const fields = Object.entries(start).map(([name, value]) => {
    if (typeof value !== 'function') return [name, show(name)];
    const call = (...args: unknown[]) =>
      (current() as Record<string, (...given: unknown[]) => unknown>)[name]?.(...args);
    return [name, call];
  });
  return Object.fromEntries(fields) as object;
}
