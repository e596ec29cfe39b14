import { part } from './part.ts';

const announcer = part(document, 'announcer', HTMLElement);

/** Tells people who listen to the page what others see happen. */
export function announce(text: string): void {
  announcer.textContent = text;
}
