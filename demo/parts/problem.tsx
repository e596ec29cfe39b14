import './problem.css';

/** What went wrong, in words, where it went wrong. Takes no room while there is nothing to say. */
export function Problem({ text, id }: { text: string | undefined; id?: string }) {
  return (
    <p class="problem" role="alert" id={id}>
      {text}
    </p>
  );
}
