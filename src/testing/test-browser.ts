import { checkOptions, name } from '../api/options/option-checks.ts';
import type { FakeClock } from './fake-clock.ts';
import { clock, deviceOf, TestDatabase } from './test-database.ts';
import type { TestDevice } from './test-platform.ts';
import type { TestStorage } from './test-storage.ts';

/** Options of {@link testBrowser}. */
export interface TestBrowserOptions {
  /** The time that its tabs see. If not given, that of the machine. */
  clock?: FakeClock | undefined;
}

/** A browser with several tabs, in this thread. */
export class TestBrowser {
  /** The storage of all tabs. */
  readonly disk: TestStorage;
  readonly #device: TestDevice;

  /** @internal */
  constructor(device: TestDevice) {
    this.#device = device;
    this.disk = device.disk;
  }

  /**
   * Opens a database in a new tab. The first tab of a database is its leader, the others use its
   * engine; when the leader closes, another takes over, as in a browser.
   *
   * @param options `name` of the database, by default 'test'.
   * @throws {OptionError} with the option, the given value and the allowed ones.
   */
  openTab(options: { name?: string | undefined } = {}): TestDatabase {
    const checks = { name: { ...name, required: false, fallback: 'test' } };
    const settings = checkOptions(options, checks, 'openTab(options)') as { name: string };
    return new TestDatabase(settings.name, this.#device, true, true);
  }
}

/**
 * A browser whose tabs share their databases: tests what a user sees who has the app open twice.
 *
 * @throws {OptionError} with the option, the given value and the allowed ones.
 *
 * @example
 * ```ts
 * const browser = testBrowser();
 * const [one, two] = [browser.openTab(), browser.openTab()];
 * const options = { name: 'orders', type: 'DOCUMENT_BASED' } as const;
 * await new one.Collection(options).insert({ item: 'lamp' });
 * await new two.Collection(options).count(); // => 1
 * ```
 */
export function testBrowser(options: TestBrowserOptions = {}): TestBrowser {
  const settings = checkOptions(options, { clock }, 'testBrowser(options)') as TestBrowserOptions;
  return new TestBrowser(deviceOf(undefined, settings.clock));
}
