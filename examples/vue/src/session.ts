import { nextTick, shallowRef } from 'vue';
import { type Data, openDatabase } from './database';

const USER = 'tasks: user';
const remembered = localStorage.getItem(USER);

/** Who has logged in, and the database; it survives reloads, without a network too. */
export const session = shallowRef(remembered === null ? undefined : openDatabase(remembered));

/** Your server would check a password here; `encrypted()` of cairndb/encryption makes it a key. */
export function login(user: string): void {
  localStorage.setItem(USER, user);
  session.value = openDatabase(user);
}

export async function logout(): Promise<void> {
  const { db } = useSession();
  localStorage.removeItem(USER);
  session.value = undefined;
  await nextTick(); // no component reads any more
  await db.close(); // or destroy(), to leave nothing on the device
}

/** The database, in components that are shown after the login. */
export function useSession(): Data {
  if (!session.value) throw new Error('useSession() works after login().');
  return session.value;
}
