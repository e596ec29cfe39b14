import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { messageOf } from '../../parts/message-of.ts';
import { useLive } from '../../parts/use-live.ts';
import { board, sharedProblem } from './shared.ts';

/** A text field that all tabs share. */
export function Note({ note, label }: { note: string; label: string }) {
  const { data } = useLive(useMemo(() => board.note(note), [note]));
  // The draft takes precedence until the board has it.
  const draft = useSignal<string | undefined>(undefined);

  async function write(text: string) {
    draft.value = text;
    try {
      await board.write(note, text);
    } catch (error) {
      sharedProblem.value = messageOf(error);
    }
    if (draft.peek() === text) draft.value = undefined;
  }

  return (
    <input
      class="field"
      aria-label={label}
      placeholder={label}
      maxLength={120}
      autocomplete="off"
      value={draft.value ?? String(data ?? '')}
      onInput={({ currentTarget }) => write(currentTarget.value)}
    />
  );
}
