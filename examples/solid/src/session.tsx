import { createSignal, type JSX, Show, untrack } from 'solid-js';
import { type Data, openDatabase } from './database';

const USER = 'tasks: user';
const remembered = localStorage.getItem(USER);
const [session, setSession] = createSignal(
  remembered === null ? undefined : openDatabase(remembered),
);

/** Shows the app after a login; it survives reloads, without a network too. */
export function SessionProvider(props: { children: () => JSX.Element }) {
  return (
    <Show when={session()} keyed fallback={<Login />}>
      {(_) => props.children()}
    </Show>
  );
}

/** The database of the user who has logged in. */
export function useSession(): Data {
  const data = untrack(session);
  if (!data) throw new Error('useSession() works below <SessionProvider>.');
  return data;
}

export async function logout(): Promise<void> {
  const { db } = useSession();
  localStorage.removeItem(USER);
  setSession(undefined);
  await db.close(); // or destroy(), to leave nothing on the device
}

/** Your server would check a password here; `encrypted()` of cairndb/encryption makes it a key. */
function Login() {
  const [user, setUser] = createSignal('');

  function login(event: SubmitEvent) {
    event.preventDefault();
    localStorage.setItem(USER, user());
    setSession(openDatabase(user()));
  }

  return (
    <main>
      <h1>Tasks</h1>
      <form onSubmit={login}>
        <input
          aria-label="Your name"
          placeholder="Your name"
          autocomplete="username"
          required
          value={user()}
          onInput={(event) => setUser(event.target.value)}
        />
        <button type="submit">Log in</button>
      </form>
    </main>
  );
}
