import type { InspectedDatabase } from '../inspect/inspected-database.ts';

type Child = Node | string | number | false | null | undefined;

type Props = Readonly<Record<string, unknown>>;

/** Makes an element: `on…` are listeners, `value` and `checked` properties, others attributes. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === 'value' || name === 'checked')
      (element as unknown as Record<string, unknown>)[name] = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  fill(element, ...children);
  return element;
}

export function fill(element: Element, ...children: readonly Child[]): void {
  const shown = children.filter(
    (child) => child !== false && child !== null && child !== undefined,
  );
  element.replaceChildren(...shown.map((child) => (child instanceof Node ? child : String(child))));
}

export function button(label: string, onclick: () => void, props: Props = {}): HTMLButtonElement {
  return h('button', { type: 'button', onclick, ...props }, label);
}

/** A button that asks once more before it acts. */
export function confirmButton(label: string, question: string, act: () => void): HTMLButtonElement {
  let isAsking = false;
  const show = (asking: boolean): void => {
    isAsking = asking;
    element.textContent = asking ? question : label;
  };
  const element = button(
    label,
    () => {
      if (isAsking) act();
      show(!isAsking);
    },
    { class: 'danger' },
  );
  element.addEventListener('blur', () => show(false));
  return element;
}

/** A table in a frame that scrolls, by the keyboard too. */
export function table(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const cells = (row: readonly Child[]) =>
    h('tr', {}, ...row.map((cell) => h('td', {}, cell ?? '')));
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      {},
      h('caption', { class: 'hidden' }, caption),
      h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, ...rows.map(cells)),
    ),
  );
}

export function facts(pairs: readonly (readonly [term: string, value: Child])[]): HTMLElement {
  return h(
    'dl',
    { class: 'facts' },
    ...pairs.map(([term, value]) => h('div', {}, h('dt', {}, term), h('dd', {}, value ?? '–'))),
  );
}

export function field(label: string, control: HTMLElement, isWide = false): HTMLElement {
  return h('label', { class: isWide ? 'field wide' : 'field' }, h('span', {}, label), control);
}

/** A part of the devtools, under its own tab. */
export interface View {
  readonly element: HTMLElement;
  /** Called when it is shown, and every second while it is. */
  refresh?(): void;
  close?(): void;
}

export type MakeView = (inspected: InspectedDatabase) => View;
