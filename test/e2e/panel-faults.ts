import type { Page } from 'playwright-core';

/**
 * What is wrong with the panel in sight: content or controls beside the window, and cards with a
 * large part that nothing fills.
 */
export function panelFaults(page: Page): Promise<string[]> {
  return page.evaluate(find);
}

/** Runs in the page and can use nothing from this module. */
function find(): string[] {
  const faults: string[] = [];
  const { clientWidth, scrollWidth } = document.documentElement;
  if (scrollWidth > clientWidth) faults.push(`${scrollWidth - clientWidth} px beside the window`);

  const scrolls = (element: Element | null): boolean =>
    element !== null &&
    (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  for (const control of document.querySelectorAll('main :is(a, button, input, select)')) {
    const { left, right, width } = control.getBoundingClientRect();
    if (width > 1 && (left < 0 || right > clientWidth) && !scrolls(control.parentElement))
      faults.push(`beside the window: ${control.outerHTML.slice(0, 80)}`);
  }

  /** The tops and bottoms of all lines of text, controls and drawings. */
  const rowsOf = (node: Node): (readonly [top: number, bottom: number])[] => {
    if (node instanceof Text) {
      if (!node.data.trim()) return [];
      const range = document.createRange();
      range.selectNodeContents(node);
      return [...range.getClientRects()].map(({ top, bottom }) => [top, bottom]);
    }
    if (!(node instanceof Element) || getComputedStyle(node).visibility === 'hidden') return [];
    if (node.matches('button, input, select, svg, canvas, iframe, .criteria-editor')) {
      const { top, bottom } = node.getBoundingClientRect();
      return [[top, bottom]];
    }
    return [...node.childNodes].flatMap(rowsOf);
  };
  const most = 200;
  for (const card of document.querySelectorAll('main .card')) {
    const { top, bottom } = card.getBoundingClientRect();
    let end = top;
    const rows = rowsOf(card).sort(([one], [other]) => one - other);
    for (const [from, to] of [...rows, [bottom, bottom] as const]) {
      if (from - end > most)
        faults.push(`${Math.round(from - end)} px of nothing: ${card.textContent?.slice(0, 40)}`);
      end = Math.max(end, to);
    }
  }
  return faults;
}
