import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type Range,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useState } from 'preact/hooks';

interface VirtualRows {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly count: number;
  /** Pixels. */
  readonly rowHeight: number;
  /** Height of the head in pixels, which covers rows. */
  readonly headHeight: number;
  /** The focused row, which stays in the page when scrolled away. */
  readonly kept: number;
}

/** TanStack Virtual for Preact: the visible rows. */
export function useVirtualRows({ scroller, count, rowHeight, headHeight, kept }: VirtualRows) {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollPaddingStart: headHeight,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    rangeExtractor: (range: Range) => withKept(defaultRangeExtractor(range), kept, count),
    onChange: () => render(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options));
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}

function withKept(indexes: number[], kept: number, count: number): number[] {
  if (kept >= count || indexes.includes(kept)) return indexes;
  return [...indexes, kept].sort((a, b) => a - b);
}
