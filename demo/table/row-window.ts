/** Rows beyond the edges, so that a quick scroll does not show gaps. */
const BEYOND = 8;

/**
 * Which rows of a scrolled element are in sight. All rows have the same height, so that this costs the
 * same for ten rows as for a million, also while they are being added.
 */
export class RowWindow {
  readonly #viewport: HTMLElement;
  readonly #head: HTMLElement;
  readonly #rowHeight: () => number;
  /** As the events told: asking the element could make the browser lay out the page anew. */
  #scrollTop = 0;
  #height = 0;

  /**
   * @param head Stays at the top and covers rows.
   * @param changed Called when other rows come into sight.
   */
  constructor(
    viewport: HTMLElement,
    head: HTMLElement,
    rowHeight: () => number,
    changed: () => void,
  ) {
    this.#viewport = viewport;
    this.#head = head;
    this.#rowHeight = rowHeight;
    viewport.addEventListener('scroll', () => {
      this.#scrollTop = viewport.scrollTop;
      changed();
    });
    new ResizeObserver(() => {
      this.#height = viewport.clientHeight;
      changed();
    }).observe(viewport);
  }

  /** The rows to have in the page. */
  range(count: number): { from: number; to: number } {
    const height = this.#rowHeight();
    const first = Math.floor(this.#scrollTop / height);
    const last = Math.ceil((this.#scrollTop + this.#height) / height);
    return { from: Math.max(0, first - BEYOND), to: Math.min(count, last + BEYOND) };
  }

  /** How many rows are in sight at once. */
  get page(): number {
    return Math.max(1, Math.floor(this.#room / this.#rowHeight()));
  }

  /** Scrolls no further than needed to have the row in sight. */
  reveal(index: number): void {
    const top = index * this.#rowHeight();
    const lowest = top + this.#rowHeight() - this.#room;
    this.scrollTo(Math.min(top, Math.max(lowest, this.#scrollTop)));
  }

  scrollTo(top: number): void {
    this.#viewport.scrollTop = top;
    this.#scrollTop = this.#viewport.scrollTop;
  }

  get #room(): number {
    return this.#height - this.#head.offsetHeight;
  }
}
