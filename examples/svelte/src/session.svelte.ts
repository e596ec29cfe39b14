import { tick } from 'svelte';
import { type Data, openDatabase } from './database';

const USER = 'tasks: user';
const remembered = localStorage.getItem(USER);

let data = $state.raw<Data | undefined>(remembered === null ? undefined : openDatabase(remembered));

/** Who has logged in, and the database; it survives reloads, without a network too. */
export const session = {
  get data() {
    return data;
  },

  /** Your server would check a password here; `encrypted()` of cairndb/encryption makes it a key. */
  login(user: string): void {
    localStorage.setItem(USER, user);
    data = openDatabase(user);
  },

  async logout(): Promise<void> {
    const { db } = useSession();
    localStorage.removeItem(USER);
    data = undefined;
    await tick(); // no component reads any more
    await db.close(); // or destroy(), to leave nothing on the device
  },
};

/** The database, in components that are shown after the login. */
export function useSession(): Data {
  if (!data) throw new Error('useSession() works after login().');
  return data;
}
