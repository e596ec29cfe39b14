import type { Page } from 'playwright-core';

/** A layout shift, by the Layout Instability API. */
interface Shift {
  /** The step before. */
  readonly after: string;
  /** The elements, with left, top, width and height before and after. */
  readonly moved: readonly string[];
}

/**
 * Records all layout shifts of a page, over reloads, too. Includes shifts within half a second of
 * an input, which browsers leave out: on a slower machine they would come later. Only lines of text
 * under edit may move.
 */
export async function watchShifts(page: Page) {
  const shifts: Shift[] = [];
  let step = 'nothing';
  await page.exposeFunction('noteShift', (moved: readonly string[]) => {
    shifts.push({ after: step, moved });
  });
  await page.addInitScript(observe);
  return {
    shifts,
    /** Names the next step, once the page has reported all shifts of the last one. */
    async say(name: string) {
      await page.evaluate(painted);
      step = name;
    },
  };
}

// The rest runs in the page and can use nothing from this module.

/** Resolves when earlier changes are painted and reported. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50)));
  });
}

function observe(): void {
  const name = (node: Node | null): string => {
    const element = node instanceof Element ? node : node?.parentElement;
    if (!element) return 'something that is gone';
    const classes = [...element.classList].map((each) => `.${each}`).join('');
    const own = `${element.localName}${classes}${node === element ? '' : ' text'}`;
    const inside = element.parentElement?.closest('[class]');
    return `${inside ? `${inside.classList[0]} > ` : ''}${own} "${node?.textContent?.slice(0, 24)}"`;
  };
  const corners = ({ x, y, width, height }: DOMRectReadOnly) =>
    [x, y, width, height].map(Math.round).join(' ');
  interface LayoutShift extends PerformanceEntry {
    readonly hadRecentInput: boolean;
    readonly sources: readonly {
      readonly node: Node | null;
      readonly previousRect: DOMRectReadOnly;
      readonly currentRect: DOMRectReadOnly;
    }[];
  }
  const isWritten = ({ node }: LayoutShift['sources'][number]) =>
    (node instanceof Element ? node : node?.parentElement)?.closest('.cm-content') != null;
  const { noteShift } = globalThis as unknown as { noteShift(moved: string[]): void };
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, sources } of list.getEntries() as LayoutShift[]) {
      if (hadRecentInput && sources.every(isWritten)) continue;
      noteShift(
        sources.map(
          ({ node, previousRect, currentRect }) =>
            `${name(node)}: ${corners(previousRect)} → ${corners(currentRect)}`,
        ),
      );
    }
  }).observe({ type: 'layout-shift', buffered: true });
}
