import { useSignal } from '@preact/signals';

interface ItemFieldProps {
  readonly label: string;
  readonly value: string | number;
  readonly isNumber?: boolean;
  readonly placeholder?: string;
  readonly onChange: (text: string) => void;
}

/**
 * A field of an item. Enter and blur save, Escape cancels; what comes by the network waits for
 * that.
 */
export function ItemField({ label, value, isNumber, placeholder, onChange }: ItemFieldProps) {
  const draft = useSignal<string | undefined>(undefined);

  function finish() {
    const text = draft.peek();
    draft.value = undefined;
    if (text !== undefined && text !== String(value)) onChange(text);
  }

  return (
    <input
      class="item-field"
      data-number={isNumber}
      inputMode={isNumber ? 'decimal' : 'text'}
      aria-label={label}
      placeholder={placeholder}
      maxLength={60}
      autocomplete="off"
      value={draft.value ?? String(value)}
      onInput={({ currentTarget }) => {
        draft.value = currentTarget.value;
      }}
      onBlur={finish}
      onKeyDown={({ key }) => {
        if (key === 'Enter') finish();
        if (key === 'Escape') draft.value = undefined;
      }}
    />
  );
}
