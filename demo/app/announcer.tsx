import { signal } from '@preact/signals';

const text = signal('');

/** Announces changes to screen readers. */
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
