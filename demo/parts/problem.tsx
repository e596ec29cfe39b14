import './problem.css';

/** An error message. Takes no space while empty. */
export function Problem({ text, id }: { text: string | undefined; id?: string }) {
  return (
    <p class="problem" role="alert" id={id}>
      {text}
    </p>
  );
}
