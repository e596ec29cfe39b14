import type { BackupInfo } from '../../protocol/backup-protocol.ts';
import type { InspectedDatabase } from '../inspect/inspected-database.ts';
import { button, confirmButton, field, fill, h, table, type View } from './dom.ts';
import { bytes, count, dateTime, messageOf } from './format-text.ts';

const HEADS = ['Label', 'Made', 'Documents', 'Size', 'Expires', 'Actions'];

/** The backups of each collection: make, load, download, delete. */
export function backupsView(inspected: InspectedDatabase): View {
  const choice = h('select', {});
  const label = h('input', { type: 'text', placeholder: 'optional', maxlength: 1000 });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const summary = h('p', { class: 'summary', role: 'status' });
  const list = h('div', { class: 'results' });
  let names = '';
  let isBusy = false;

  const handle = () => inspected.handle(choice.value);

  const run = (act: () => Promise<string | undefined>): void => {
    if (isBusy) return;
    isBusy = true;
    fill(problem);
    act()
      .then((text) => {
        if (text) fill(summary, text);
        return draw();
      })
      .catch((error: unknown) => fill(problem, messageOf(error)))
      .finally(() => {
        isBusy = false;
      });
  };

  const draw = async (): Promise<void> => {
    const backups = await handle()?.listBackups();
    fill(list, backups?.length ? table('Backups', HEADS, backups.map(rowOf)) : 'No backup yet.');
  };

  const rowOf = (backup: BackupInfo) => [
    backup.label ?? backup.name,
    dateTime(backup.created_at),
    count(backup.documents),
    bytes(backup.bytes),
    backup.expires_at ? dateTime(backup.expires_at) : 'never',
    h(
      'span',
      { class: 'bar' },
      confirmButton('Load', 'Replace the data?', () =>
        run(async () => {
          await handle()?.loadBackup(backup.name);
          return 'Loaded. The data before it is a backup now.';
        }),
      ),
      button('Download', () => run(() => download(backup))),
      confirmButton('Delete', 'Really delete?', () =>
        run(async () => {
          await handle()?.deleteBackup(backup.name);
          return 'Deleted.';
        }),
      ),
    ),
  ];

  const download = async ({ name }: BackupInfo): Promise<string> => {
    const file = await handle()?.exportBackup(name);
    const blob = await new Response(file).blob();
    const url = URL.createObjectURL(blob);
    h('a', { href: url, download: `${choice.value}-${name}.cairn` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    return `Downloaded ${bytes(blob.size)}.`;
  };

  const make = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await handle()?.createBackup(label.value ? { label: label.value } : undefined);
      label.value = '';
      return 'Made a backup.';
    });
  };

  choice.addEventListener('change', () => run(async () => undefined));
  return {
    element: h(
      'div',
      { class: 'pane' },
      h(
        'form',
        { class: 'query', onsubmit: make },
        field('Collection', choice),
        field('Label', label, true),
        h('button', { type: 'submit', class: 'primary' }, 'Back up'),
      ),
      problem,
      summary,
      list,
    ),
    refresh() {
      if (isBusy) return;
      inspected.collections().then(
        (entries) => {
          const open = entries.filter(({ isOpen }) => isOpen).map(({ name }) => name);
          if (names === open.join()) return;
          names = open.join();
          const chosen = choice.value;
          fill(choice, ...open.map((name) => h('option', {}, name)));
          if (open.includes(chosen)) choice.value = chosen;
          run(async () => undefined);
        },
        (error: unknown) => fill(problem, messageOf(error)),
      );
    },
  };
}
