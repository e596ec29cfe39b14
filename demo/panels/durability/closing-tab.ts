import { messageOf } from '../../parts/message-of.ts';
import { writeAndClose } from './recipes/closing-tab.ts';
import '../../design/tokens.css';
import '../../design/base.css';
import './closing-tab.css';

/** The page that closes itself. Its query string names what to write. */
const asked = new URLSearchParams(location.search);

function say(text: string): void {
  const said = document.getElementById('said');
  if (said) said.textContent = text;
}

if (!window.opener) say('The panel "Durability" opens this page. On its own it does nothing.');
else {
  const waits = asked.has('waits');
  writeAndClose(asked.get('run') ?? '', Number(asked.get('count')), waits).catch((error: unknown) =>
    say(messageOf(error)),
  );
}
