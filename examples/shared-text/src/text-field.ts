import type * as Y from 'yjs';

/** Shows a text in a field, and writes what is typed there. The cursor stays at its letter. */
export function bindField(field: HTMLTextAreaElement, text: Y.Text): void {
  field.value = text.toString();
  field.addEventListener('input', () => write(text, field.value));
  text.observe(({ delta }, { local }) => {
    if (local) return; // the field has it already
    const { selectionStart, selectionEnd, selectionDirection } = field;
    field.value = text.toString();
    field.setSelectionRange(
      moved(selectionStart, delta),
      moved(selectionEnd, delta),
      selectionDirection,
    );
  });
}

/** Writes the difference alone, so that the edits of others stay. */
function write(text: Y.Text, value: string): void {
  const before = text.toString();
  const most = Math.min(before.length, value.length);
  let start = 0;
  while (start < most && before[start] === value[start]) start++;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === value.at(-1 - end)) end++;
  text.doc?.transact(() => {
    text.delete(start, before.length - start - end);
    text.insert(start, value.slice(start, value.length - end));
  });
}

/** Where a place of the text is after a change. */
function moved(place: number, delta: Y.YTextEvent['delta']): number {
  let at = 0;
  let to = place;
  for (const { retain = 0, insert = '', delete: deleted = 0 } of delta) {
    if (at > to) break;
    at += retain;
    const inserted = typeof insert === 'string' ? insert.length : 1;
    if (at < to) to -= Math.min(deleted, to - at);
    if (at < to) to += inserted;
    at += inserted;
  }
  return to;
}
