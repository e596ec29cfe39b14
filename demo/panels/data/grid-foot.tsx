import { Problem } from '../../parts/problem.tsx';
import { lastDone, undoLast } from './actions.ts';

/** The last action with its undo, or its error, and the keys of the grid. */
export function GridFoot({ problem }: { problem: string }) {
  return (
    <div class="grid-foot small">
      <p class="grid-done" data-part="last-done">
        {!problem && lastDone.value && (
          <>
            <span>{lastDone.value.text}</span>
            <button type="button" class="link-button" onClick={undoLast}>
              Undo
            </button>
          </>
        )}
      </p>
      <Problem text={problem} />
      <p id="grid-keys" class="soft grid-keys">
        <kbd>Enter</kbd> edits, <kbd>A</kbd> archives or unarchives, <kbd>Del</kbd> deletes
      </p>
    </div>
  );
}
