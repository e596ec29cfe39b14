/** A page of the playground. */
export interface Panel {
  /** In the address: `#/query`. */
  readonly id: string;
  readonly title: string;
  /** What it shows, for the first panel to tell. */
  readonly claim?: string;
  /** An SVG path on a grid of 20. */
  readonly icon: string;
}

export const PANELS = [
  { id: '', title: 'Start', icon: 'M3 9l7-6 7 6v8h-5v-5H8v5H3z' },
] as const satisfies readonly Panel[];
