import { useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { saveState, saves, status, unsavedCount } from '../database/status.ts';
import { formatNumber } from '../parts/format.ts';
import { isKeptOffline, isOnline } from './offline.ts';

const still = matchMedia('(prefers-reduced-motion: reduce)');

/** Unsaved changes, a pulse for each save, and whether the page works offline. */
export function SaveState() {
  const dot = useRef<HTMLSpanElement>(null);
  useSignalEffect(() => {
    if (saves.value === 0 || still.matches) return;
    const grow = { boxShadow: ['0 0 0 0 currentColor', '0 0 0 9px transparent'] };
    dot.current?.animate(grow, { duration: 700, easing: 'ease-out' });
  });
  const state = saveState.value;
  return (
    <div class="save-state" data-state={state} data-part="save-state" title={titleOf(state)}>
      <span class="save-dot" ref={dot} aria-hidden="true" />
      <span class="figures">{textOf(state)}</span>
      <span class="offline-state">{offlineText()}</span>
    </div>
  );
}

function textOf(state: typeof saveState.value): string {
  if (state === 'unsaved') return `${formatNumber(unsavedCount.value)} unsaved`;
  return { idle: 'Ready', opening: 'Opening', saved: 'All saved', failed: 'Not available' }[state];
}

function titleOf(state: typeof saveState.value): string | undefined {
  return state === 'failed' ? status.value?.last_error?.message : undefined;
}

function offlineText(): string {
  if (!isOnline.value) return 'Offline';
  return isKeptOffline.value ? 'Works offline' : '';
}
