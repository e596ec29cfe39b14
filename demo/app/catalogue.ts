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
  {
    id: 'data',
    title: 'Data',
    claim:
      'A grid of 135,233 live documents: search as you type, sort, edit in place. Your own files too.',
    icon: 'M3 4h14v12H3zM3 8h14M3 12h14M8 8v8',
  },
  {
    id: 'query',
    title: 'Query',
    claim:
      'Criteria or a function, and the plan drawn: which index, how many looked at, where the time went.',
    icon: 'M8.5 3a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM12.5 12.5L17 17',
  },
] as const satisfies readonly Panel[];
