import { connect } from 'cairndb';

export interface Task {
  text: string;
  done: boolean;
}

/** Each user has a database: accounts on one device share no data. */
export function openDatabase(user: string) {
  const db = connect({ name: `tasks of ${user}` });
  const tasks = new db.Collection<Task>({
    name: 'tasks',
    type: 'DOCUMENT_BASED',
    indicate_created_timestamp: true,
    indexes: ['_created_timestamp', 'done'],
    auto_create_backup: true, // one a day on which something changed
  });
  return { user, db, tasks };
}

export type Data = ReturnType<typeof openDatabase>;
