/** What the devtools remember until the tab is closed. */
interface Preferences {
  readonly tab?: string | undefined;
  readonly collapsed?: boolean | undefined;
  /** Pixels. */
  readonly size?: number | undefined;
}

const KEY = 'cairndb-devtools';

export function readPreferences(): Preferences {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Preferences;
  } catch {
    // Storage is forbidden, or holds something else.
    return {};
  }
}

export function writePreferences(changed: Preferences): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ ...readPreferences(), ...changed }));
  } catch {
    // Storage is forbidden or full: the next page starts with the defaults.
  }
}
