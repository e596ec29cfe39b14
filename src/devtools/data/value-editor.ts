import { parseValue } from '../values/parse-value.ts';
import { type PrintedValue, printValue } from '../values/print-value.ts';
import { button, confirmButton, fill, h } from '../views/dom.ts';
import { messageOf } from '../views/format-text.ts';

export interface EditorOptions {
  readonly title: string;
  /** Shown above the text: values that cannot be edited. */
  readonly head?: HTMLElement | undefined;
  readonly value: unknown;
  /** Label of the button that saves. */
  readonly verb: string;
  readonly save: (value: unknown) => Promise<void>;
  readonly remove?: (() => Promise<void>) | undefined;
  readonly more?: readonly { readonly label: string; readonly act: () => Promise<void> }[];
  readonly leave: () => void;
}

/** A form with the text of a value. What cannot be parsed is refused with line and column. */
export function valueEditor(options: EditorOptions): HTMLElement {
  const { title, head, value, verb, save, remove, more = [], leave } = options;
  const printed: PrintedValue = printValue(value);
  const problem = h('p', { class: 'problem', role: 'alert', id: 'editor-problem' });
  const text = h('textarea', {
    ...{ spellcheck: 'false', autocapitalize: 'off', 'aria-label': `${title}, as text` },
    'aria-describedby': 'editor-problem editor-kinds',
    value: printed.text,
  });
  const run = (act: () => Promise<void>): void => {
    fill(problem);
    text.removeAttribute('aria-invalid');
    act().then(leave, (error: unknown) => {
      fill(problem, messageOf(error));
      const { offset } = error as { offset?: unknown };
      if (typeof offset !== 'number') return;
      text.setAttribute('aria-invalid', 'true');
      text.focus();
      text.setSelectionRange(offset, offset + 1);
    });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => save(parseValue(text.value, printed.kept)));
  };
  const kinds = printed.kinds.length ? `Besides JSON it holds: ${printed.kinds.join(', ')}. ` : '';
  const form = h(
    'form',
    {
      class: 'editor',
      'aria-label': title,
      onsubmit: submit,
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
        if (event.key === 'Escape') {
          event.stopPropagation();
          leave();
        }
      },
    },
    h('div', { class: 'bar' }, h('b', {}, title), button('Close', leave)),
    head,
    text,
    h(
      'p',
      { class: 'soft', id: 'editor-kinds' },
      `${kinds}JSON, and Date("2026-01-31T12:00:00Z"), 10n, /x/i, Map([[1, 2]]), Set([1]), undefined.`,
    ),
    problem,
    h(
      'div',
      { class: 'bar' },
      h('button', { type: 'submit', class: 'primary', title: 'Ctrl+Enter' }, verb),
      ...more.map(({ label, act }) => button(label, () => run(act))),
      remove && confirmButton('Delete', 'Really delete?', () => run(remove)),
    ),
  );
  // Later: it has to be in the page to take the focus.
  setTimeout(() => text.focus());
  return form;
}
