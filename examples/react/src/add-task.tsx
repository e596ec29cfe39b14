import { type FormEvent, useState } from 'react';
import { useSession } from './session';

export function AddTask({ report }: { report: (error: unknown) => void }) {
  const { tasks } = useSession();
  const [text, setText] = useState('');

  function add(event: FormEvent) {
    event.preventDefault();
    if (text.trim()) tasks.insert({ text: text.trim(), done: false }).catch(report);
    setText('');
  }

  return (
    <form onSubmit={add}>
      <input
        aria-label="New task"
        placeholder="What is to do?"
        autoComplete="off"
        required
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit">Add</button>
    </form>
  );
}
