import { signal } from '@preact/signals';

const text = signal('');

/** Tells people who listen to the page what others see happen. */
export function announce(message: string): void {
  text.value = message;
}

export function Announcer() {
  return (
    <p class="hidden" role="status">
      {text.value}
    </p>
  );
}
