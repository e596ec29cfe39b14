/** How an engine came to its end: its tab went, it threw an error, or it was ended from outside. */
export type Cause = 'left' | 'thrown' | 'ended';

/** The end of an engine, told to all tabs by the one that had it. */
interface End {
  readonly cause: Cause;
  /** Unix milliseconds. */
  readonly at: number;
  /** The tab. */
  readonly by: string;
}

const KEY = 'tabs-end';

/** In `localStorage`, because a page that goes can still write there. */
export function noteEnd(cause: Cause, by: string): void {
  localStorage.setItem(KEY, JSON.stringify({ cause, at: Date.now(), by } satisfies End));
}

/** The last end, if it came after that time. */
export function endSince(time: number): End | undefined {
  const kept = localStorage.getItem(KEY);
  const end: End | undefined = kept ? JSON.parse(kept) : undefined;
  return end && end.at >= time ? end : undefined;
}
