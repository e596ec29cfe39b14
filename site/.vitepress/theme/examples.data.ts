import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The files of an example by their paths, as an online editor takes them. */
export type ExampleFiles = Readonly<Record<string, string>>;

const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));
const LEFT_OUT = /(^|\/)(node_modules|dist)\//;

declare const data: Readonly<Record<string, ExampleFiles>>;

export { data };

/** Read by VitePress when the site is built; the theme imports the result as `data`. */
export default {
  watch: ['../../../examples/*/**'],
  load: (): Record<string, ExampleFiles> =>
    Object.fromEntries(readdirSync(EXAMPLES).map((name) => [name, filesOf(`${EXAMPLES}${name}/`)])),
};

function filesOf(folder: string): ExampleFiles {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.replaceAll('//', '/').slice(folder.length))
    .filter((path) => !LEFT_OUT.test(path))
    .toSorted();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(`${folder}${path}`, 'utf8')]));
}
