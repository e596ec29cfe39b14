import { Icon } from '../parts/icon.tsx';
import { chooseTheme, THEMES, type Theme, theme } from './theme.ts';

const ICONS: Record<Theme, string> = {
  system: 'M3 4h14v9H3zM7 16h6M10 13v3',
  light:
    'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1',
  dark: 'M16 11.5A6.5 6.5 0 0 1 8.5 4a6.5 6.5 0 1 0 7.5 7.5z',
};

const NAMES: Record<Theme, string> = {
  system: 'as the device',
  light: 'light',
  dark: 'dark',
};

/** Cycles through the three themes. */
export function ThemeChoice() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
  const label = `Colours: ${NAMES[theme.value]}. Change to ${NAMES[next]}.`;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => chooseTheme(next)}
    >
      <Icon path={ICONS[theme.value]} />
    </button>
  );
}
