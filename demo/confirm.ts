import { part } from './part.ts';

const dialog = part(document, 'confirm', HTMLDialogElement);

/** What is asked before something that cannot be undone. */
export interface Question {
  readonly title: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly action: string;
}

/** Asks; whatever closes the dialog but its button counts as no. */
export function confirm({ title, text, action }: Question): Promise<boolean> {
  part(dialog, 'confirm-title', HTMLElement).textContent = title;
  part(dialog, 'confirm-text', HTMLElement).textContent = text;
  part(dialog, 'confirm-yes', HTMLElement).textContent = action;
  dialog.returnValue = 'no'; // Escape leaves the value of the time before
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
  });
}
