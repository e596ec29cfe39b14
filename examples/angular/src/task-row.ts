import { Component, computed, inject, input, output } from '@angular/core';
import type { DocumentOf } from 'cairndb';
import { injectDraft } from 'cairndb/angular';
import { tasks } from './database';
import { Problem } from './problem';

@Component({
  selector: 'app-task-row',
  template: `
    <li [class.done]="shown().done">
      <input
        type="checkbox"
        aria-label="Done"
        [checked]="shown().done"
        (change)="check($any($event.target).checked)"
      />
      <input
        aria-label="Task"
        [value]="shown().text"
        (input)="form.set({ text: $any($event.target).value })"
        (change)="save()"
      />
      <button type="button" (click)="remove()">Delete</button>
    </li>
  `,
  styles: ':host { display: contents }',
})
export class TaskRow {
  readonly task = input.required<DocumentOf<typeof tasks>>();
  readonly deleted = output<void>();
  readonly #report = inject(Problem).report;

  // Changes show at once, and what is typed stays until it is saved, whatever other tabs do meanwhile.
  readonly form = injectDraft(tasks, () => this.task()._id);
  readonly shown = computed(() => this.form.draft() ?? this.task());

  check(done: boolean) {
    this.form.set({ done });
    this.save();
  }

  save() {
    this.form.save().catch(this.#report);
  }

  /** Archived: it is still there to be brought back. */
  remove() {
    this.deleted.emit(); // before the row goes: a component that is gone emits nothing
    tasks.archive(this.task()._id).catch(this.#report);
  }
}
