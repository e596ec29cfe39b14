import { useSignal } from '@preact/signals';
import type { Stored } from 'cairndb';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Column } from '../../../database/table.ts';
import { editedText, readCell } from './cell-text.ts';

interface CellEditorProps {
  readonly row: Stored;
  readonly column: Column;
  readonly onDone: (value: unknown) => void;
  readonly onCancel: () => void;
}

/** An input in place of a cell. Enter and blur save, Escape cancels. */
export function CellEditor({ row, column, onDone, onCancel }: CellEditorProps) {
  const input = useRef<HTMLInputElement>(null);
  const problem = useSignal('');
  /** Both ways to end cause a blur, which must not end it again. */
  const isOver = useRef(false);
  const before = editedText(row, column);

  useLayoutEffect(() => input.current?.select(), []);

  function finish() {
    const text = input.current?.value ?? '';
    if (isOver.current) return;
    if (text === before) {
      cancel();
      return;
    }
    const read = readCell(text, column);
    if ('problem' in read) {
      problem.value = read.problem;
      return;
    }
    isOver.current = true;
    onDone(read.value);
  }

  function cancel() {
    isOver.current = true;
    onCancel();
  }

  return (
    <>
      <input
        ref={input}
        class="cell-input"
        defaultValue={before}
        aria-label={column.title}
        aria-invalid={problem.value !== ''}
        aria-describedby="cell-problem"
        inputMode={column.kind === 'number' ? 'decimal' : 'text'}
        autocomplete="off"
        spellcheck={false}
        onBlur={finish}
        onClick={(event) => event.stopPropagation()}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Enter') finish();
          if (event.key === 'Escape') cancel();
        }}
      />
      <span class="cell-problem" id="cell-problem" role="alert">
        {problem.value}
      </span>
    </>
  );
}
