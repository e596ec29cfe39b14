import { createSignal } from 'solid-js';
import { useSession } from './session';

export function AddTask(props: { report: (error: unknown) => void }) {
  const { tasks } = useSession();
  const [text, setText] = createSignal('');

  function add(event: SubmitEvent) {
    event.preventDefault();
    if (text().trim()) tasks.insert({ text: text().trim(), done: false }).catch(props.report);
    setText('');
  }

  return (
    <form onSubmit={add}>
      <input
        aria-label="New task"
        placeholder="What is to do?"
        autocomplete="off"
        required
        value={text()}
        onInput={(event) => setText(event.target.value)}
      />
      <button type="submit">Add</button>
    </form>
  );
}
