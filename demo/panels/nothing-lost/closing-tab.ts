import { messageOf } from '../../parts/message-of.ts';
import { writeAndClose } from './recipes/closing-tab.ts';

/** The page that is opened to be closed. Its address says what it is to write. */
const asked = new URLSearchParams(location.search);

const waits = asked.has('waits');
writeAndClose(asked.get('run') ?? '', Number(asked.get('count')), waits).catch((error: unknown) => {
  const said = document.getElementById('said');
  if (said) said.textContent = messageOf(error);
});
