import { join } from 'node:path';
import { test } from 'vitest';
import { files } from '../../src/node/index.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';
import { documentSteps } from '../model/document-commands.ts';
import { DocumentSubject } from '../model/document-subject.ts';
import { keyValueCommand } from '../model/key-value-commands.ts';
import { KeyValueSubject } from '../model/key-value-subject.ts';
import { runSteps, type Step, type Subject, steps } from '../model/world.ts';
import { fc, runs } from '../setup/properties.ts';

/** The name that the model gives its database. */
const DATABASE = 'test';

let directories = 0;

/** Takes the steps over a new directory: crashes, faults of saves, reloads. */
async function runInFiles<Collection extends { ready: Promise<void> }, Command, State>(
  subject: Subject<Collection, Command, State>,
  script: readonly Step<Command>[],
): Promise<void> {
  const driver = files(join(root, String(++directories)));
  try {
    await runSteps(subject, script, false, driver);
  } finally {
    // Crashes have left it open.
    await driver.delete?.(DATABASE);
  }
}

const root = makeFolder('model');

test('documents in files behave as an array does', async () => {
  await fc.assert(
    fc.asyncProperty(documentSteps, (script) => runInFiles(new DocumentSubject(), script)),
    runs(25),
  );
});

test('keys and values in files behave as a Map does', async () => {
  const atOnce = keyValueCommand.filter(({ op }) => op !== 'modify');
  await fc.assert(
    fc.asyncProperty(steps(keyValueCommand, atOnce), (script) =>
      runInFiles(new KeyValueSubject(), script),
    ),
    runs(25),
  );
});
