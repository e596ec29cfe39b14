import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import './confirm.css';

interface ConfirmButtonProps {
  readonly label: ComponentChildren;
  /** The question. */
  readonly question: string;
  readonly text: string;
  /** Label of the confirming button. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly disabled?: boolean;
}

/** A button that asks before a destructive action. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  return (
    <>
      <button
        type="button"
        class="button danger compact"
        disabled={props.disabled}
        onClick={() => dialog.current?.showModal()}
      >
        {props.label}
      </button>
      <dialog
        ref={dialog}
        class="confirm"
        aria-labelledby={`${id}-question`}
        aria-describedby={`${id}-text`}
      >
        <h2 id={`${id}-question`}>{props.question}</h2>
        <p id={`${id}-text`} class="soft">
          {props.text}
        </p>
        <div class="confirm-buttons">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Keep
          </button>
          <button
            type="button"
            class="button danger"
            onClick={() => {
              dialog.current?.close();
              props.onConfirm();
            }}
          >
            {props.action}
          </button>
        </div>
      </dialog>
    </>
  );
}
