import type { Data } from './database';

/** Saves all tasks as a file. */
export async function exportTasks(tasks: Data['tasks']): Promise<void> {
  const backup = await tasks.createBackup({ label: 'copy' });
  const file = await new Response(await tasks.exportBackup(backup)).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = 'tasks.ndjson.gz';
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Adds the tasks of a file: those with the same id are replaced. */
export async function importTasks(tasks: Data['tasks'], file: File): Promise<void> {
  await tasks.importBackup(file, { mode: 'merge' });
}
