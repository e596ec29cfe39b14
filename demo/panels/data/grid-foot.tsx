import { Problem } from '../../parts/problem.tsx';
import { editing, lastDrop, redoLast, undoLast } from './actions.ts';

/** The last action with undo and redo, or its error, and the keys of the grid. */
export function GridFoot({ problem }: { problem: string }) {
  const { can_undo, can_redo, undo_label } = editing().state.value;
  const dropped = lastDrop.value;
  const text = dropped ? dropped.text : undo_label;
  return (
    <div class="grid-foot small">
      <p class="grid-done" data-part="last-done">
        {!problem && (
          <>
            <span key={text}>{text}</span>
            {can_redo && !dropped && (
              <button type="button" class="link-button" onClick={redoLast}>
                Redo
              </button>
            )}
            {(can_undo || dropped) && (
              <button type="button" class="link-button" onClick={undoLast}>
                Undo
              </button>
            )}
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
