import { test } from 'vitest';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import type { KeyValueCollection } from '../../src/page/collections/key-value-collection.ts';
import { documentCommand } from '../model/document-commands.ts';
import type { DocumentCommand, DocumentState } from '../model/document-model.ts';
import { DocumentSubject } from '../model/document-subject.ts';
import { keyValueCommand } from '../model/key-value-commands.ts';
import type { KeyValueCommand } from '../model/key-value-model.ts';
import { type KeyValueState, KeyValueSubject } from '../model/key-value-subject.ts';
import { fc, runs } from '../setup/properties.ts';
import { backupSteps } from './backup-steps.ts';
import { BackupWorld, type Kind } from './backup-world.ts';

const documents = (): Kind<DocumentCollection<any>, DocumentCommand, DocumentState> => {
  const subject = new DocumentSubject();
  return {
    subject,
    open: (client, { caching, indexed }, options) =>
      subject.open(client, caching, { ...options, indexes: indexed ? ['n', 'tag'] : [] }),
    watch: (collection) => collection.live({}, { archived: true }),
    shown: (contents) => contents,
  };
};

const keyValues = (): Kind<KeyValueCollection, KeyValueCommand, KeyValueState> => {
  const subject = new KeyValueSubject();
  return {
    subject,
    open: (client, { caching }, options) => subject.open(client, caching, options),
    watch: (collection) => collection.live('a'),
    shown: (contents) => new Map(contents as [string, unknown][]).get('a'),
  };
};

/**
 * Commands that keep their place among concurrent ones: `modify` takes effect when its function is
 * done.
 */
const ordered = <C extends { readonly op: string }>(command: fc.Arbitrary<C>) =>
  command.filter(({ op }) => op !== 'modify');

test.each([
  { caching: true, retention: -1 },
  { caching: false, retention: -1 },
  { caching: true, retention: 2 },
  { caching: false, retention: 2 },
])('backups of documents agree with the model, %o', async ({ caching, retention }) => {
  await fc.assert(
    fc.asyncProperty(backupSteps(documentCommand, ordered(documentCommand)), (script) =>
      new BackupWorld(documents(), retention, { caching, indexed: caching }).run(script),
    ),
    runs(40),
  );
});

test.each([
  { caching: true, retention: -1 },
  { caching: false, retention: 2 },
])('backups of keys and values agree with the model, %o', async ({ caching, retention }) => {
  await fc.assert(
    fc.asyncProperty(backupSteps(keyValueCommand, ordered(keyValueCommand)), (script) =>
      new BackupWorld(keyValues(), retention, { caching, indexed: false }).run(script),
    ),
    runs(40),
  );
});
