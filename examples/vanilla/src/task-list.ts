import type { DocumentOf } from 'cairndb';
import { tasks } from './database';

type StoredTask = DocumentOf<typeof tasks>;

/** The rows of the list. Each task has one row, which changes only with its task. */
export class TaskList {
  readonly #rows = new Map<string, Row>();
  readonly #list: HTMLElement;
  readonly #report: (error: unknown) => void;
  readonly #deleted: (id: string) => void;

  constructor(list: HTMLElement, report: (error: unknown) => void, deleted: (id: string) => void) {
    this.#list = list;
    this.#report = report;
    this.#deleted = deleted;
  }

  show(shown: readonly StoredTask[]): void {
    const ids = new Set(shown.map(({ _id }) => _id));
    for (const [id, { item }] of this.#rows) {
      if (ids.has(id)) continue;
      item.remove();
      this.#rows.delete(id);
    }
    for (const [index, task] of shown.entries()) {
      const { item } = this.#row(task);
      // Moving an element takes the focus from it, so only those move that have to.
      if (this.#list.children[index] !== item)
        this.#list.insertBefore(item, this.#list.children[index] ?? null);
    }
  }

  #row(task: StoredTask): Row {
    const row = this.#rows.get(task._id) ?? this.#makeRow(task);
    this.#rows.set(task._id, row);
    if (row.task !== task) row.show(task); // unchanged documents are the same objects
    return row;
  }

  #makeRow(task: StoredTask): Row {
    const id = task._id;
    const item = document.createElement('li');
    const done = Object.assign(document.createElement('input'), {
      type: 'checkbox',
      ariaLabel: 'Done',
    });
    const text = Object.assign(document.createElement('input'), { ariaLabel: 'Task' });
    const remove = Object.assign(document.createElement('button'), { textContent: 'Delete' });
    item.append(done, text, remove);

    done.onchange = () => tasks.patch(id, { done: done.checked }).catch(this.#report);
    text.onchange = () => tasks.patch(id, { text: text.value }).catch(this.#report);
    remove.onclick = () => tasks.archive(id).then(() => this.#deleted(id), this.#report);

    const row: Row = {
      item,
      task: undefined,
      show(now) {
        row.task = now;
        done.checked = now.done;
        item.classList.toggle('done', now.done);
        // What somebody types just now stays.
        if (document.activeElement !== text) text.value = now.text;
      },
    };
    return row;
  }
}

interface Row {
  readonly item: HTMLLIElement;
  task: StoredTask | undefined;
  show(task: StoredTask): void;
}
