import { Component, computed, input, signal } from '@angular/core';
import { injectLivePages } from 'cairndb/angular';
import { contains } from 'cairndb/text';
import { tasks } from './database';
import { TaskRow } from './task-row';
import { UndoDelete } from './undo-delete';

@Component({
  selector: 'app-task-list',
  imports: [TaskRow, UndoDelete],
  template: `
    <input
      type="search"
      aria-label="Search"
      placeholder="Search"
      [value]="search()"
      (input)="search.set($any($event.target).value)"
    />
    @if (found.error(); as error) { <p class="problem" role="alert">{{ error.message }}</p> }
    <ul>
      @for (task of found.data(); track task._id) {
        <app-task-row [task]="task" (deleted)="deleted.set(task._id)" />
      }
    </ul>
    @if (found.data()?.length === 0) { <p class="empty">Nothing here.</p> }
    @if (found.has_more()) {
      <button type="button" (click)="found.loadMore()">Show more</button>
    }
    @for (id of shown(); track id) {
      <app-undo-delete [id]="id" (over)="deleted.set(undefined)" />
    }
  `,
})
export class TaskList {
  /** Of the address: a reload, a link and the back button show the same list. */
  readonly list = input.required<string>();
  readonly search = signal('');
  readonly deleted = signal<string | undefined>(undefined);
  /** Each deletion has a message of its own. */
  readonly shown = computed(() => [this.deleted()].filter((id) => id !== undefined));

  readonly found = injectLivePages(
    tasks,
    () => ({
      ...(this.list() !== 'all' && { done: this.list() === 'done' }),
      text: contains(this.search(), { ignore_case: true }),
    }),
    { sort: { _created_timestamp: -1 }, page_size: 50 },
  );
}
