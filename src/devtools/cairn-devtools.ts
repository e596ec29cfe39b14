import { dataView } from './data/data-view.ts';
import { type DevtoolsDatabase, InspectedDatabase } from './inspect/inspected-database.ts';
import { readPreferences, writePreferences } from './preferences.ts';
import { STYLES } from './styles.ts';
import { activityView } from './views/activity-view.ts';
import { backupsView } from './views/backups-view.ts';
import { engineView, storageView } from './views/database-views.ts';
import { button, fill, h, type MakeView, type View } from './views/dom.ts';
import { count, messageOf } from './views/format-text.ts';
import { liveView, queriesView } from './views/queries-view.ts';

const REFRESH_MS = 1000;

/** On a server there is no HTMLElement: importing must not fail there. */
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

/**
 * The element `<cairn-devtools>`: shows and edits what a database holds, and shows what it does.
 *
 * Attributes: `position` (`bottom` or `right` docks it to the window; left out, it stands in the
 * page), `collapsed` (a button alone, where it is docked), `theme` (`light`, `dark` or `system`;
 * left out, it follows the page's `color-scheme`).
 *
 * @example
 * ```ts
 * const devtools = document.createElement('cairn-devtools') as CairnDevtools;
 * devtools.database = db;
 * document.body.append(devtools);
 * ```
 */
export class CairnDevtools extends Base {
  #database: DevtoolsDatabase | undefined;
  #inspected: InspectedDatabase | undefined;
  #shell: Shell | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Counts the databases that it was given: a slow one must not replace a later one. */
  #opening = 0;

  /** The database to show. */
  get database(): DevtoolsDatabase | undefined {
    return this.#database;
  }

  set database(database: DevtoolsDatabase | undefined) {
    if (database === this.#database) return;
    this.#database = database;
    if (this.isConnected) this.#open();
  }

  connectedCallback(): void {
    this.#takeEarlyProperty();
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    if (root.adoptedStyleSheets.length === 0) {
      // A constructed sheet: content security policies forbid inline styles, not these.
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLES);
      root.adoptedStyleSheets = [sheet];
    }
    this.#open();
  }

  disconnectedCallback(): void {
    this.#close();
  }

  /** A property that was set before the element was defined hides the accessor. */
  #takeEarlyProperty(): void {
    if (!Object.hasOwn(this, 'database')) return;
    const { database } = this;
    delete (this as Partial<CairnDevtools>).database;
    this.database = database;
  }

  #open(): void {
    this.#close();
    const database = this.#database;
    const root = this.shadowRoot as ShadowRoot;
    const own = ++this.#opening;
    if (!database) {
      root.replaceChildren(
        h('div', { class: 'shell empty' }, h('p', {}, 'No database: set element.database = db.')),
      );
      return;
    }
    InspectedDatabase.of(database).then(
      (inspected) => {
        if (own !== this.#opening || !this.isConnected) inspected.close();
        else this.#show(inspected);
      },
      (error: unknown) => {
        if (own !== this.#opening) return;
        const text = h('p', { class: 'problem', role: 'alert' }, messageOf(error));
        root.replaceChildren(h('div', { class: 'shell empty' }, text));
      },
    );
  }

  #show(inspected: InspectedDatabase): void {
    this.#inspected = inspected;
    this.#shell = new Shell(this, inspected);
    (this.shadowRoot as ShadowRoot).replaceChildren(...this.#shell.elements);
    this.#shell.refresh();
    this.#timer = setInterval(() => {
      if (document.visibilityState === 'visible') this.#shell?.refresh();
    }, REFRESH_MS);
  }

  #close(): void {
    this.#opening++;
    clearInterval(this.#timer);
    this.#shell?.close();
    this.#inspected?.close();
    this.#shell = undefined;
    this.#inspected = undefined;
  }
}

if (globalThis.customElements && !customElements.get('cairn-devtools'))
  customElements.define('cairn-devtools', CairnDevtools);

declare global {
  interface HTMLElementTagNameMap {
    'cairn-devtools': CairnDevtools;
  }
}

const VIEWS: Readonly<Record<string, MakeView>> = {
  Data: dataView,
  Live: liveView,
  Queries: queriesView,
  Activity: activityView,
  Engine: engineView,
  Backups: backupsView,
  Storage: storageView,
};
const NAMES = Object.keys(VIEWS);

/** Pixels that a key resizes the panel. */
const STEP = 24;
const LEAST = 200;

/** The frame of the devtools: tabs, the status, and the view of the selected tab. */
class Shell {
  readonly elements: readonly HTMLElement[];
  readonly #host: HTMLElement;
  readonly #inspected: InspectedDatabase;
  readonly #views = new Map<string, View>();
  readonly #tabs: readonly HTMLButtonElement[];
  readonly #main: HTMLElement;
  readonly #chip = h('span', { class: 'chip' });
  readonly #launcher: HTMLButtonElement;
  #shown = '';

  constructor(host: HTMLElement, inspected: InspectedDatabase) {
    this.#host = host;
    this.#inspected = inspected;
    this.#launcher = button(`Cairn · ${inspected.db.name}`, () => this.#collapse(false), {
      class: 'launcher primary',
      'aria-label': `Cairn · ${inspected.db.name}: open the devtools`,
    });
    this.#tabs = NAMES.map((name) =>
      button(name, () => this.#select(name), {
        ...{ role: 'tab', id: `tab-${name}`, 'aria-controls': 'view', tabindex: -1 },
      }),
    );
    this.#main = h('div', { class: 'view', id: 'view', role: 'tabpanel' });
    const isDocked = host.hasAttribute('position');
    const shell = h(
      'div',
      {
        class: 'shell',
        role: 'region',
        'aria-label': `Cairn devtools, database ${inspected.db.name}`,
      },
      this.#grip(),
      h(
        'div',
        { class: 'head' },
        h('b', {}, `Cairn · ${inspected.db.name}`),
        h(
          'div',
          { class: 'tabs', role: 'tablist', 'aria-label': 'Devtools', onkeydown: this.#onKey },
          ...this.#tabs,
        ),
        this.#chip,
        isDocked && button('×', () => this.#collapse(true), { 'aria-label': 'Close the devtools' }),
      ),
      this.#main,
    );
    this.elements = [this.#launcher, shell];
    const { tab, size } = readPreferences();
    if (size) this.#resize(size);
    this.#select(tab !== undefined && tab in VIEWS ? tab : (NAMES[0] as string));
  }

  /** Called every second. */
  refresh(): void {
    if (this.#host.hasAttribute('collapsed')) return;
    this.#drawStatus();
    this.#views.get(this.#shown)?.refresh?.();
  }

  close(): void {
    for (const view of this.#views.values()) view.close?.();
  }

  #drawStatus(): void {
    const { state, unsaved, last_error } = this.#inspected.db.status;
    const isWell = state === 'open' && !last_error;
    this.#chip.className = `chip ${last_error || state === 'failed' ? 'failed' : unsaved || !isWell ? 'waiting' : ''}`;
    const text = last_error ? 'save failed' : unsaved > 0 ? `${count(unsaved)} unsaved` : 'saved';
    fill(this.#chip, state === 'open' ? text : state);
  }

  #select(name: string): void {
    for (const [index, tab] of this.#tabs.entries()) {
      const isShown = NAMES[index] === name;
      tab.setAttribute('aria-selected', String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
    }
    this.#shown = name;
    this.#main.setAttribute('aria-labelledby', `tab-${name}`);
    let view = this.#views.get(name);
    if (!view) {
      view = (VIEWS[name] as MakeView)(this.#inspected);
      this.#views.set(name, view);
    }
    fill(this.#main, view.element);
    if (!this.#host.hasAttribute('collapsed')) view.refresh?.();
    writePreferences({ tab: name });
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const at = NAMES.indexOf(this.#shown);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const name = NAMES.at(to % NAMES.length) as string;
    this.#select(name);
    this.#tabs[NAMES.indexOf(name)]?.focus();
  };

  #collapse(collapsed: boolean): void {
    this.#host.toggleAttribute('collapsed', collapsed);
    writePreferences({ collapsed });
    this.refresh();
    if (collapsed) this.#launcher.focus();
    else this.#tabs[NAMES.indexOf(this.#shown)]?.focus();
  }

  /** The edge that resizes the panel at the bottom. */
  #grip(): HTMLElement {
    const grip = h('div', {
      ...{ class: 'grip', role: 'separator', tabindex: 0, 'aria-orientation': 'horizontal' },
      ...{ 'aria-label': 'Height of the devtools', 'aria-valuenow': 50 },
      onkeydown: (event: KeyboardEvent) => {
        const step = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        this.#resize(this.#host.offsetHeight + step);
      },
      onpointerdown: (event: PointerEvent) => grip.setPointerCapture(event.pointerId),
      onpointermove: (event: PointerEvent) => {
        if (grip.hasPointerCapture(event.pointerId)) this.#resize(innerHeight - event.clientY);
      },
    });
    return grip;
  }

  #resize(wanted: number): void {
    const size = Math.round(Math.max(LEAST, Math.min(wanted, innerHeight * 0.92)));
    this.#host.style.setProperty('--size', `${size}px`);
    writePreferences({ size });
  }
}
