import { useLiveCount, useLivePages } from 'cairndb/solid';
import { contains } from 'cairndb/text';
import { createSignal, For, onCleanup, Show } from 'solid-js';
import { AddTask } from './add-task';
import { Footer } from './footer';
import { listCriteria, listName, NAMES } from './route';
import { logout, useSession } from './session';
import { TaskRow } from './task-row';
import { Undo } from './undo';

export function App() {
  const { user, db, tasks } = useSession();
  const [search, setSearch] = createSignal('');
  const [deleted, setDeleted] = createSignal<string>();
  const [failure, setFailure] = createSignal<unknown>();

  const { data: open } = useLiveCount(tasks, { done: false });
  const { data, error, has_more, loadMore } = useLivePages(
    tasks,
    () => ({ ...listCriteria(), text: contains(search(), { ignore_case: true }) }),
    { sort: { _created_timestamp: -1 }, page_size: 50 },
  );

  // A save that failed; Cairn retries it.
  onCleanup(db.on('error', ({ error }) => setFailure(error)));
  const problem = () => failure() ?? error();

  return (
    <main>
      <header>
        <h1>Tasks</h1>
        <Show when={open() !== undefined}>
          <output>{open()} open</output>
        </Show>
        <button type="button" onClick={logout}>
          Log out {user}
        </button>
      </header>
      <AddTask report={setFailure} />
      <nav aria-label="Lists">
        <For each={NAMES}>
          {(each) => (
            <a href={`#/${each}`} aria-current={each === listName() ? 'page' : undefined}>
              {each}
            </a>
          )}
        </For>
      </nav>
      <input
        type="search"
        aria-label="Search"
        placeholder="Search"
        value={search()}
        onInput={(event) => setSearch(event.target.value)}
      />
      <Show when={problem()}>
        {(shown) => {
          const text = () => {
            const error = shown();
            return error instanceof Error ? error.message : String(error);
          };
          return (
            <p class="problem" role="alert">
              {text()}
            </p>
          );
        }}
      </Show>
      <ul>
        {/* Unchanged documents are the same objects, so For keeps their rows. */}
        <For each={data()}>
          {(task) => (
            <TaskRow task={task} deleted={() => setDeleted(task._id)} report={setFailure} />
          )}
        </For>
      </ul>
      <Show when={data()?.length === 0}>
        <p class="empty">Nothing here.</p>
      </Show>
      <Show when={has_more()}>
        <button type="button" onClick={loadMore}>
          Show more
        </button>
      </Show>
      <Footer report={setFailure} />
      <Show when={deleted()} keyed>
        {(id) => <Undo id={id} over={() => setDeleted(undefined)} report={setFailure} />}
      </Show>
    </main>
  );
}
