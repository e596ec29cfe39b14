import { type DevtoolsDatabase, InspectedDatabase } from './inspect/inspected-database.ts';
import { Shell } from './shell.ts';
import { STYLES } from './styles.ts';
import { h } from './views/dom.ts';
import { messageOf } from './views/format-text.ts';

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
