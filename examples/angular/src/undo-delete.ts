import { Component, DestroyRef, inject, input, output } from '@angular/core';
import { tasks } from './database';
import { Problem } from './problem';

const SHOWN_MS = 8000;

@Component({
  selector: 'app-undo-delete',
  template: `
    <aside role="status">
      <span>Deleted.</span>
      <button type="button" (click)="undo()">Undo</button>
    </aside>
  `,
})
export class UndoDelete {
  readonly id = input.required<string>();
  readonly over = output<void>();
  readonly #report = inject(Problem).report;

  constructor() {
    const timer = setTimeout(() => this.over.emit(), SHOWN_MS);
    inject(DestroyRef).onDestroy(() => clearTimeout(timer));
  }

  undo() {
    tasks.unarchive(this.id()).then(() => this.over.emit(), this.#report);
  }
}
