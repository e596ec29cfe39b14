import { Component, inject } from '@angular/core';
import { tasks } from './database';
import { Problem } from './problem';

@Component({
  selector: 'app-add-task',
  template: `
    <form (submit)="add(field); $event.preventDefault()">
      <input
        #field
        aria-label="New task"
        placeholder="What is to do?"
        autocomplete="off"
        required
      />
      <button type="submit">Add</button>
    </form>
  `,
})
export class AddTask {
  readonly #report = inject(Problem).report;

  add(field: HTMLInputElement) {
    const text = field.value.trim();
    if (text) tasks.insert({ text, done: false }).catch(this.#report);
    field.value = '';
  }
}
