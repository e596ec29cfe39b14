import { useSignal } from '@preact/signals';
import { hrefOf } from '../../app/route.ts';
import { messageOf } from '../../parts/message-of.ts';
import { StatusText } from '../../parts/status-text.tsx';
import { noteEnd } from './engine-ends.ts';
import { ME, shared, sharedProblem, sharedStatus } from './shared.ts';

/** Time the browser gets to close the tab. */
const CLOSING_MS = 500;

/** Opens another tab, closes or reloads this one. */
export function ThisTab() {
  const refusal = useSignal('A page can only close a tab that a page opened.');

  async function close() {
    // Chromium fires no event in a tab that closes itself, so it could write no unload journal.
    try {
      await shared.save();
    } catch (error) {
      sharedProblem.value = messageOf(error);
      return;
    }
    if (sharedStatus.peek().leader) noteEnd('left', ME);
    window.close();
    setTimeout(() => {
      refusal.value =
        'No page opened this tab, so no page can close it. Close or reload it yourself.';
    }, CLOSING_MS);
  }

  return (
    <div class="this-tab">
      <a class="button primary" href={hrefOf({ id: 'tabs' })} target="_blank" rel="noopener">
        Open another tab
      </a>
      <button type="button" class="button" onClick={close}>
        Close this tab
      </button>
      <button type="button" class="button" onClick={() => location.reload()}>
        Reload this tab
      </button>
      <StatusText text={refusal.value} problem={sharedProblem.value} />
    </div>
  );
}
