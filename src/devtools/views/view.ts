import type { InspectedDatabase } from '../inspect/inspected-database.ts';

/** A part of the devtools, under its own tab. */
export interface View {
  readonly element: HTMLElement;
  /** Called when it is shown, and every second while it is. */
  refresh?(): void;
  close?(): void;
}

export type MakeView = (inspected: InspectedDatabase) => View;
