import { formatNumber } from '../../parts/format.ts';
import { useLive } from '../../parts/use-live.ts';
import { board, laidHere, lay, ME } from './shared.ts';
import './heap.css';

/** The stones of all tabs, newest last; those of this tab are filled. */
export function Heap() {
  const { data: stones = [] } = useLive(board.heap);
  const { data: size } = useLive(board.size);
  return (
    <div class="heap">
      <ul class="heap-stones" aria-hidden="true">
        {/* Keyed by position: removing the oldest is no layout shift. */}
        {stones.toReversed().map(({ by }, place) => (
          <li key={place} data-own={by === ME} />
        ))}
      </ul>
      <div class="heap-foot">
        <button type="button" class="button" onClick={lay}>
          Lay a stone
        </button>
        <p class="heap-count small figures">
          <strong data-part="stones">{size === undefined ? '–' : formatNumber(size)}</strong>
          <span> in total</span>
          <strong data-part="laid">{formatNumber(laidHere.value)}</strong>
          <span> from this tab (filled)</span>
        </p>
      </div>
    </div>
  );
}
