/** Why an engine ended: its tab closed, it threw an error, or it was terminated. */
export type Cause = 'left' | 'thrown' | 'ended';

/** The end of an engine, as its tab reports it to all tabs. */
interface End {
  readonly cause: Cause;
  /** Unix milliseconds. */
  readonly at: number;
  /** The tab. */
  readonly by: string;
}

const KEY = 'tabs-end';

/** In `localStorage`, because a closing page can still write there. */
export function noteEnd(cause: Cause, by: string): void {
  localStorage.setItem(KEY, JSON.stringify({ cause, at: Date.now(), by } satisfies End));
}

/** The last end after a time. */
export function endSince(time: number): End | undefined {
  const kept = localStorage.getItem(KEY);
  const end: End | undefined = kept ? JSON.parse(kept) : undefined;
  return end && end.at >= time ? end : undefined;
}
