/** Visits the items that an array has; holes cost nothing, however long the array says it is. */
export function eachItem<T>(array: readonly T[], visit: (item: T, index: number) => void): void {
  for (let index = 0; index < array.length; index++) {
    if (!(index in array)) {
      for (const key of Object.keys(array))
        if (Number(key) > index) visit(array[Number(key)] as T, Number(key));
      return;
    }
    visit(array[index] as T, index);
  }
}
