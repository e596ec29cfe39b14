import { checkOptions } from '../../api/options/option-checks.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import type { NamedTarget } from '../backup-target.ts';
import {
  type Answer,
  elementsOf,
  folderUrl,
  type HttpTargetOptions,
  httpChecks,
  noList,
  refusal,
  sendHttp,
  textOf,
} from './http-target.ts';

/** Headers of requests: fixed ones, or a function that is called before each request. */
type Headers =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** Options of {@link webdav}. */
export interface WebDavOptions extends HttpTargetOptions {
  /** The folder, which exists. */
  readonly url: string;
  /** Headers of each request, such as `authorization`; or a function that returns them. */
  readonly headers?: Headers | undefined;
}

/** Ends the name of a file that is being uploaded: a server may keep half of it. */
const UPLOADING = '.uploading';

const LIST =
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>';

/**
 * A folder of a WebDAV server: Nextcloud, ownCloud, a NAS, Apache, nginx … It must allow the page's
 * origin (CORS), the methods GET, PUT, DELETE, MOVE, MKCOL and PROPFIND, and their headers.
 *
 * @throws {OptionError} with the invalid option.
 */
export function webdav(options: WebDavOptions): NamedTarget {
  const given = checkOptions(
    options,
    {
      ...httpChecks,
      headers: {
        allowed: 'an object of strings, or a function that returns one',
        test: (value) => typeof value === 'function' || isPlainObject(value),
        fallback: {},
      },
    },
    'webdav(options)',
  ) as unknown as WebDavOptions & { readonly headers: Headers };
  const base = folderUrl(given.url);
  const root = decodeURIComponent(base.pathname);
  /** Folders that are there, as far as this page knows. */
  const made = new Set<string>();
  /** By path. A caller that has given one up may ask again: two at once would write to one file. */
  const uploads = new Map<string, { readonly bytes: Uint8Array; readonly done: Promise<void> }>();

  const send = async (
    method: string,
    path: string,
    allowed: readonly number[],
    init: { body?: BodyInit; headers?: Record<string, string> } = {},
  ): Promise<Answer> => {
    const { headers } = given;
    const own = typeof headers === 'function' ? await headers() : headers;
    const url = base.href + path;
    const answer = await sendHttp(given, url, {
      method,
      ...init,
      headers: { ...own, ...init.headers },
    });
    if ((answer.status >= 200 && answer.status < 300) || allowed.includes(answer.status))
      return answer;
    throw refusal(answer, url);
  };

  const makeFolders = async (path: string): Promise<void> => {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const folder = path.slice(0, at + 1);
      if (made.has(folder)) continue;
      // 405: it is there.
      await send('MKCOL', folder, [405]);
      made.add(folder);
    }
  };

  const store = async (path: string, bytes: Uint8Array): Promise<number> => {
    const body = bytes as Uint8Array<ArrayBuffer>;
    const { status } = await send('PUT', path + UPLOADING, [404, 409], { body });
    return status;
  };

  const upload = async (path: string, bytes: Uint8Array): Promise<void> => {
    await makeFolders(path);
    if ((await store(path, bytes)) >= 400) {
      // Somebody has removed a folder.
      made.clear();
      await makeFolders(path);
      const status = await store(path, bytes);
      if (status >= 400)
        throw refusal({ status, bytes: new Uint8Array(), text: '' }, base.href + path);
    }
    const headers = { destination: base.href + path, overwrite: 'T' };
    await send('MOVE', path + UPLOADING, [], { headers });
  };

  const list = async (folder: string, paths: string[]): Promise<void> => {
    const headers = { depth: '1', 'content-type': 'application/xml' };
    const { status, text } = await send('PROPFIND', folder, [404], { body: LIST, headers });
    if (status === 404) return;
    if (!/<(?:[\w-]+:)?multistatus\b/.test(text)) throw noList(base.href + folder);
    for (const response of elementsOf(text, 'response')) {
      const [href = ''] = elementsOf(response, 'href');
      // Decoded: servers differ in what they encode.
      const { pathname } = new URL(textOf(href).trim(), base);
      const path = decodeURIComponent(pathname).slice(root.length);
      // The folder itself is in its list too.
      const name = path.slice(folder.length).replace(/\/$/, '');
      if (name === '' || !path.startsWith(folder)) continue;
      const isFolder = /<(?:[\w-]+:)?collection\s*(?:\/>|>)/.test(response);
      if (isFolder) await list(`${folder}${name}/`, paths);
      else if (!name.endsWith(UPLOADING)) paths.push(folder + name);
    }
  };

  return {
    id: `webdav:${base.href}`,

    async put(path, bytes) {
      // Again: another one that waited may have begun.
      for (let before = uploads.get(path); before; before = uploads.get(path)) {
        if (before.bytes === bytes) return before.done;
        await before.done.catch(() => undefined);
      }
      const done = upload(path, bytes).finally(() => uploads.delete(path));
      uploads.set(path, { bytes, done });
      return done;
    },

    async get(path) {
      const { status, bytes } = await send('GET', path, [404]);
      return status === 404 ? undefined : bytes;
    },

    async list(prefix) {
      // A missing folder of a backup is an empty list; a missing one of the target is an error.
      await send('PROPFIND', '', [], { body: LIST, headers: { depth: '0' } });
      const paths: string[] = [];
      await list(prefix, paths);
      return paths;
    },

    async delete(path) {
      await send('DELETE', path, [404]);
    },
  };
}
