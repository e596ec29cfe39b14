import { connect } from 'cairndb';

export interface Task {
  text: string;
  done: boolean;
}

export const db = connect({ name: 'tasks' });

export const tasks = new db.Collection<Task>({
  name: 'tasks',
  type: 'DOCUMENT_BASED',
  indicate_created_timestamp: true,
  indexes: ['_created_timestamp', 'done'],
  auto_create_backup: true, // one a day on which something changed
});
