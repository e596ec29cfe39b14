/** Restores insertion rank among items that arrive segment by segment: holds back items until their rank is certain. */
export class Sequence<T extends { readonly rank: number }> {
  #held: T[] = [];

  /**
   * @param items The next items.
   * @param floor Lower bound of the ranks still to come.
   * @returns the items whose rank is certain.
   */
  push(items: T[], floor: number): T[] {
    const last = items.at(-1);
    if (this.#held.length === 0 && (!last || last.rank < floor) && isAscending(items)) return items;
    const all = this.#held.concat(items).sort((a, b) => a.rank - b.rank);
    const certain = all.findIndex(({ rank }) => rank >= floor);
    this.#held = certain < 0 ? [] : all.slice(certain);
    return certain < 0 ? all : all.slice(0, certain);
  }
}

function isAscending(items: readonly { readonly rank: number }[]): boolean {
  return items.every(({ rank }, index) => index === 0 || (items[index - 1]?.rank ?? 0) < rank);
}
