import { Component, computed, inject } from '@angular/core';
import { injectDatabaseStatus } from 'cairndb/angular';
import { exportTasks, importTasks } from './copies';
import { db } from './database';
import { Problem } from './problem';

@Component({
  selector: 'app-page-footer',
  template: `
    <footer>
      <span role="status">{{ text() }}</span>
      <button type="button" (click)="saveCopy()">Save a copy</button>
      <label class="button">
        Restore a copy
        <input #file type="file" accept=".gz" hidden (change)="restore(file)" />
      </label>
    </footer>
  `,
})
export class PageFooter {
  readonly #report = inject(Problem).report;
  readonly #status = injectDatabaseStatus(db);
  readonly text = computed(() => {
    const { unsaved, storage } = this.#status();
    if (unsaved > 0) return 'Saving …';
    return storage === 'memory' ? 'Kept until you close the page.' : 'Kept on this device.';
  });

  saveCopy() {
    exportTasks().catch(this.#report);
    // After a gesture, which some browsers want: else they may delete the data when space is short.
    db.storage.persist().catch(this.#report);
  }

  restore(input: HTMLInputElement) {
    const [file] = input.files ?? [];
    if (file) importTasks(file).catch(this.#report);
    input.value = '';
  }
}
