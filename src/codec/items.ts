/** Visits the items that an array has; holes cost nothing, however long the array says it is. */
export function eachItem<T>(array: readonly T[], visit: (item: T, index: number) => void): void {
  for (let index = 0; index < array.length; index++) {
    const item = array[index] as T;
    // Only `undefined` can be a hole, and then the keys that exist tell where the items are.
    if (item === undefined && !(index in array)) {
      eachFrom(array, index, visit);
      return;
    }
    visit(item, index);
  }
}

function eachFrom<T>(
  array: readonly T[],
  start: number,
  visit: (item: T, index: number) => void,
): void {
  for (const key of Object.keys(array)) {
    const index = Number(key);
    if (!(index < array.length)) return;
    if (index > start) visit(array[index] as T, index);
  }
}
