import { effect, signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'theme';
const isTheme = (value: unknown): value is Theme => THEMES.includes(value as Theme);

const kept = localStorage.getItem(KEY);

/** The visitor's choice; `system` follows the device. */
export const theme = signal<Theme>(isTheme(kept) ? kept : 'system');

const device = matchMedia('(prefers-color-scheme: dark)');

/** Counts colour changes, so that canvases repaint. */
export const repaint = signal(0);
device.addEventListener('change', () => {
  repaint.value += 1;
});

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(KEY, chosen);
}

/**
 * Gives the page the colours of the choice, also if another tab, or the page around a frame, makes
 * it.
 */
export function applyTheme(): void {
  effect(() => {
    const { dataset } = document.documentElement;
    if (theme.value === 'system') delete dataset.theme;
    else dataset.theme = theme.value;
    repaint.value = repaint.peek() + 1;
  });
  addEventListener('storage', ({ key, newValue }) => {
    if (key === KEY && isTheme(newValue)) theme.value = newValue;
  });
}
