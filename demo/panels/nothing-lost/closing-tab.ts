import { messageOf } from '../../parts/message-of.ts';
import { writeAndClose } from './recipes/closing-tab.ts';
import '../../design/tokens.css';
import '../../design/base.css';
import './closing-tab.css';

/** The page that is opened to be closed. Its address says what it is to write. */
const asked = new URLSearchParams(location.search);

function say(text: string): void {
  const said = document.getElementById('said');
  if (said) said.textContent = text;
}

if (!window.opener)
  say('The panel "Nothing lost" opens this page. By itself it has nothing to do.');
else {
  const waits = asked.has('waits');
  writeAndClose(asked.get('run') ?? '', Number(asked.get('count')), waits).catch((error: unknown) =>
    say(messageOf(error)),
  );
}
