import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBidi } from './bidi.mjs';
import { Child, makeFolder, removeFolder, sleep } from './child.mjs';
import { requireBrowser } from './find.mjs';

/** @typedef {Record<string, string | number | boolean>} Preferences */

/**
 * Quiet: no first-run pages, no requests of its own, and timers that hidden windows keep.
 * @type {Preferences}
 */
const PREFERENCES = {
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.aboutwelcome.enabled': false,
  'browser.safebrowsing.downloads.enabled': false,
  'browser.sessionstore.resume_from_crash': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage': 'about:blank',
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.disable_open_during_load': false,
  'dom.max_script_run_time': 0,
  'dom.min_background_timeout_value': 4,
  'dom.timeout.enable_budget_timer_throttling': false,
  'extensions.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'startup.homepage_welcome_url': 'about:blank',
  'toolkit.telemetry.reportingpolicy.firstRun': false,
  'toolkit.telemetry.server': 'data:,',
};

/**
 * Firefox over WebDriver BiDi, which it speaks itself: no driver program in between.
 *
 * @param {object} [options]
 * @param {string} [options.profile] a folder to open (again); by default a fresh one, removed at
 *   the end
 * @param {boolean} [options.headless]
 * @param {Preferences} [options.preferences]
 * @param {number} [options.timeout] milliseconds until it must be ready
 */
export async function launchFirefox(options = {}) {
  const { profile, headless = true, preferences = {}, timeout = 90_000 } = options;
  const binary = requireBrowser('firefox');
  const folder = profile ?? makeFolder('firefox');
  const lines = Object.entries({ ...PREFERENCES, ...preferences }).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  writeFileSync(join(folder, 'user.js'), `${lines.join('\n')}\n`);
  const args = ['--remote-debugging-port=0', '--no-remote', '--profile', folder];
  if (headless) args.push('--headless');
  const child = new Child(binary, args, { ...process.env, MOZ_CRASHREPORTER_DISABLE: '1' });
  const [, endpoint] = await child.waitFor(/WebDriver BiDi listening on (ws:\/\/\S+)/, timeout);
  const bidi = await openBidi(String(endpoint));
  await bidi.send('session.new', {
    capabilities: { alwaysMatch: { unhandledPromptBehavior: { default: 'ignore' } } },
  });

  /** @param {string} [url] */
  async function newPage(url) {
    const { context } = await bidi.send('browsingContext.create', { type: 'window' });
    const page = firefoxPage(bidi, context);
    if (url) await page.goto(url);
    return page;
  }

  return {
    profile: folder,
    send: bidi.send,
    on: bidi.on,
    newPage,
    /**
     * Pages that share their storage.
     * @param {readonly string[]} urls
     */
    async openTabs(urls) {
      for (const url of urls) await newPage(url);
    },
    /** Ends as when the user quits it. */
    async quit() {
      await bidi.send('browser.close');
      await child.exited;
      bidi.end();
    },
    async close() {
      // closing in its own time lets it write its profile; a profile that is thrown away need not
      if (profile) await Promise.race([bidi.send('browser.close'), sleep(5_000)]);
      await child.end();
      bidi.end();
      if (!profile) removeFolder(folder);
    },
  };
}

/**
 * @param {import('./bidi.mjs').BidiSession} bidi
 * @param {string} context
 */
function firefoxPage(bidi, context) {
  return {
    /**
     * @param {string} url
     * @param {'none' | 'interactive' | 'complete'} wait
     */
    goto: (url, wait = 'complete') => bidi.send('browsingContext.navigate', { context, url, wait }),
    goBack: () => bidi.send('browsingContext.traverseHistory', { context, delta: -1 }),
    reload: () => bidi.send('browsingContext.reload', { context, wait: 'complete' }),
    /**
     * The value of an expression, awaited; it has to fit in JSON.
     * @param {string} expression
     */
    async evaluate(expression) {
      const answer = await bidi.send('script.evaluate', {
        target: { context },
        awaitPromise: true,
        expression: `(async () => JSON.stringify(await (${expression})))()`,
      });
      if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text);
      return answer.result.value === undefined ? undefined : JSON.parse(answer.result.value);
    },
    async screenshot() {
      const { data } = await bidi.send('browsingContext.captureScreenshot', { context });
      return Buffer.from(data, 'base64');
    },
    close: () => bidi.send('browsingContext.close', { context }),
  };
}
