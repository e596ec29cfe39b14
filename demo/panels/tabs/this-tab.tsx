import { useSignal } from '@preact/signals';
import { hrefOf } from '../../app/route.ts';
import { messageOf } from '../../parts/message-of.ts';
import { Told } from '../../parts/told.tsx';
import { noteEnd } from './ends.ts';
import { ME, shared, sharedProblem, sharedStatus } from './shared.ts';

/** How long the browser may take to close the tab. */
const CLOSING_MS = 500;

/** Opens another tab, and ends this one. */
export function ThisTab() {
  const refusal = useSignal('A page may close a tab that a page has opened, and no other.');

  async function close() {
    // Chromium fires no event in a tab that closes itself, so nothing could be left behind then.
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
        'No page has opened this tab, so none may close it. Close it yourself, or reload it.';
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
      <Told text={refusal.value} problem={sharedProblem.value} />
    </div>
  );
}
