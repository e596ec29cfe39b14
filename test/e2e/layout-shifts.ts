import type { Page } from 'playwright-core';

/** Something that changed its place, by the Layout Instability API. */
interface Shift {
  /** What was done before. */
  readonly after: string;
  /** What moved, from where to where: left, top, width and height. */
  readonly moved: readonly string[];
}

/**
 * Watches all that moves in a page, over reloads too. Also what moves within half a second of a press, which the sum
 * that browsers report leaves out: on a slower machine the same would come later. Only lines of text that a
 * visitor is just writing may move.
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
    /** Says what is done next, once the page has told all that came of what was done before. */
    async say(name: string) {
      await page.evaluate(painted);
      step = name;
    },
  };
}

// What follows runs in the page, so it can use nothing from here.

/** Resolves when what was changed before is painted, and told. */
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
