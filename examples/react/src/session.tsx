import { createContext, type FormEvent, type ReactNode, useContext, useState } from 'react';
import { type Data, openDatabase } from './database';

interface Session extends Data {
  readonly logout: () => Promise<void>;
}

const SessionContext = createContext<Session | undefined>(undefined);
const USER = 'tasks: user';

// Opened before the first render, and once: React may run a component twice.
const remembered = localStorage.getItem(USER);
const initial = remembered === null ? undefined : openDatabase(remembered);

/** The database of the user who has logged in. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession() works below <SessionProvider>.');
  return session;
}

/** Shows the app after a login; it survives reloads, without a network too. */
export function SessionProvider({ children }: { children: ReactNode }) {
  const [data, setData] = useState(initial);
  if (!data) return <Login opened={setData} />;

  async function logout() {
    localStorage.removeItem(USER);
    setData(undefined);
    await data?.db.close(); // or destroy(), to leave nothing on the device
  }

  return <SessionContext value={{ ...data, logout }}>{children}</SessionContext>;
}

/** Your server would check a password here; `encrypted()` of cairndb/encryption makes it a key. */
function Login({ opened }: { opened: (data: Data) => void }) {
  const [user, setUser] = useState('');

  function login(event: FormEvent) {
    event.preventDefault();
    localStorage.setItem(USER, user);
    opened(openDatabase(user));
  }

  return (
    <main>
      <h1>Tasks</h1>
      <form onSubmit={login}>
        <input
          aria-label="Your name"
          placeholder="Your name"
          autoComplete="username"
          required
          value={user}
          onChange={(event) => setUser(event.target.value)}
        />
        <button type="submit">Log in</button>
      </form>
    </main>
  );
}
