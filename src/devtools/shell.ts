import { dataView } from './data/data-view.ts';
import type { InspectedDatabase } from './inspect/inspected-database.ts';
import { readPreferences, writePreferences } from './preferences.ts';
import { activityView } from './views/activity-view.ts';
import { backupsView } from './views/backups-view.ts';
import { button, fill, h, type MakeView, type View } from './views/dom.ts';
import { engineView } from './views/engine-view.ts';
import { count } from './views/format-text.ts';
import { liveView, queriesView } from './views/queries-view.ts';
import { storageView } from './views/storage-view.ts';

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
export class Shell {
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
