import './cairn-devtools.ts';
import { OptionError } from '../errors/errors.ts';
import type { DevtoolsDatabase } from './inspect/inspected-database.ts';
import { readPreferences } from './preferences.ts';

export type { LiveActivity } from '../page/sending/observed-call.ts';
export { adviseIndexes, type IndexAdvice, type QueryCost } from './advise-indexes.ts';
export { CairnDevtools } from './cairn-devtools.ts';
export { type DevtoolsDatabase, liveQueriesOf } from './inspect/inspected-database.ts';

/** Options of {@link mountDevtools}. */
export interface DevtoolsOptions {
  /** Where to dock the panel. @default 'bottom' */
  readonly position?: 'bottom' | 'right' | undefined;
  /** Whether the panel is open at first; later it is as the user left it. @default false */
  readonly open?: boolean | undefined;
  /** The colours. @default the page's `color-scheme` */
  readonly theme?: 'light' | 'dark' | 'system' | undefined;
}

const ALLOWED: Readonly<Record<keyof DevtoolsOptions, readonly unknown[]>> = {
  position: ['bottom', 'right'],
  open: [true, false],
  theme: ['light', 'dark', 'system'],
};

/** The docked panels, by the name of their database. */
const docked = new Map<string, HTMLElement>();

/**
 * Docks `<cairn-devtools>` to the window: a button in the corner that opens the panel. Docked again
 * for a database of the same name, by an effect or a module that ran twice, it takes the place of
 * the one before.
 *
 * @returns a function that removes them.
 * @throws {OptionError} with the option, the given value and the allowed ones.
 *
 * @example
 * ```ts
 * if (import.meta.env.DEV)
 *   import('cairndb/devtools').then(({ mountDevtools }) => mountDevtools(db));
 * ```
 */
export function mountDevtools(
  database: DevtoolsDatabase,
  options: DevtoolsOptions = {},
): () => void {
  for (const [option, value] of Object.entries(options)) {
    const allowed = ALLOWED[option as keyof DevtoolsOptions];
    if (value === undefined || allowed?.includes(value)) continue;
    const known = allowed
      ? `must be ${allowed.map((one) => JSON.stringify(one)).join(' or ')}, not ${JSON.stringify(value)}`
      : `is no option; there are ${Object.keys(ALLOWED).join(', ')}`;
    const code = allowed ? 'option_invalid' : 'option_unknown';
    throw new OptionError(code, `"${option}" ${known}.`, { place: option });
  }
  const { position = 'bottom', open = false, theme } = options;
  const element = document.createElement('cairn-devtools');
  element.setAttribute('position', position);
  element.toggleAttribute('collapsed', readPreferences().collapsed ?? !open);
  if (theme) element.setAttribute('theme', theme);
  element.database = database;
  docked.get(database.name)?.remove();
  docked.delete(database.name);
  // The button of another database must not lie beneath.
  element.style.setProperty('--place', String(docked.size));
  docked.set(database.name, element);
  document.body.append(element);
  return () => {
    element.remove();
    if (docked.get(database.name) === element) docked.delete(database.name);
  };
}
