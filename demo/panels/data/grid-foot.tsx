import { lastDone, undoLast } from './actions.ts';

/** What was done last, with its way back; and the keys of the grid. */
export function GridFoot() {
  return (
    <div class="grid-foot small">
      <p class="grid-done" data-part="last-done">
        {lastDone.value && (
          <>
            {lastDone.value.text}{' '}
            <button type="button" class="link-button" onClick={undoLast}>
              Undo
            </button>
          </>
        )}
      </p>
      <p id="grid-keys" class="soft grid-keys">
        <kbd>Enter</kbd> edits, <kbd>A</kbd> archives or takes back, <kbd>Del</kbd> deletes
      </p>
    </div>
  );
}
