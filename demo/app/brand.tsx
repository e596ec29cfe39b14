import { saveState } from '../database/status.ts';

/** The top stone floats while something is unsaved, and settles with the save. */
export function Brand() {
  return (
    <a class="brand" href="#/">
      <svg class="brand-cairn" data-state={saveState.value} viewBox="0 0 32 32" aria-hidden="true">
        <ellipse class="brand-top" cx="16.5" cy="7" rx="5" ry="3.4" />
        <ellipse cx="15.5" cy="15" rx="8.2" ry="4" />
        <ellipse cx="16" cy="24.5" rx="12.5" ry="4.8" />
      </svg>
      <span>Cairn</span>
    </a>
  );
}
