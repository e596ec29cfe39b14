import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import './confirm.css';

interface ConfirmButtonProps {
  readonly label: ComponentChildren;
  /** What is asked before it is done. */
  readonly question: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly disabled?: boolean;
}

/** A button for what cannot be undone: it asks first. */
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
