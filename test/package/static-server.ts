import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

/** An answer in place of a file. */
export interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string;
}

export interface StaticServerOptions {
  /** Headers of every answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replacements of answers, by the end of the path. */
  readonly instead?: Readonly<Record<string, Answer>> | undefined;
  /** Resolves when a request may be answered. */
  readonly hold?: ((path: string) => Promise<void>) | undefined;
}

export interface StaticServer {
  readonly url: string;
  close(): Promise<void>;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.map': 'application/json',
};

/** Serves a folder as any web host does, on a free port. */
export async function serveFolder(
  folder: string,
  { headers = {}, instead = {}, hold }: StaticServerOptions = {},
): Promise<StaticServer> {
  const answer = async (path: string): Promise<Required<Answer>> => {
    const named = Object.entries(instead).find(([end]) => path.endsWith(end))?.[1];
    if (named) return { status: 200, type: 'text/html', body: '', ...named };
    const file = join(folder, normalize(path.endsWith('/') ? `${path}index.html` : path));
    const body = await readFile(file, 'utf8').catch(() => undefined);
    if (body === undefined) return { status: 404, type: 'text/plain', body: 'Not found' };
    return { status: 200, type: TYPES[extname(file)] ?? 'application/octet-stream', body };
  };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    await hold?.(pathname);
    const { status, type, body } = await answer(decodeURIComponent(pathname));
    response.writeHead(status, { ...headers, 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
