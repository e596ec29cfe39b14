/**
 * Puts what comes segment by segment back in the order of insertion: holds back what something inserted
 * earlier may still precede.
 */
export class Sequence<T extends { readonly order: number }> {
  #held: T[] = [];

  /**
   * @param items The next ones.
   * @param floor Nothing still to come has a lower order.
   * @returns what is certain now.
   */
  push(items: T[], floor: number): T[] {
    const last = items.at(-1);
    if (this.#held.length === 0 && (!last || last.order < floor) && isAscending(items))
      return items;
    const all = this.#held.concat(items).sort((a, b) => a.order - b.order);
    const certain = all.findIndex(({ order }) => order >= floor);
    this.#held = certain < 0 ? [] : all.slice(certain);
    return certain < 0 ? all : all.slice(0, certain);
  }
}

function isAscending(items: readonly { readonly order: number }[]): boolean {
  return items.every(({ order }, index) => index === 0 || (items[index - 1]?.order ?? 0) < order);
}
