#!/usr/bin/env node
import { createReadStream, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { version } from '../package.json';
import { type CairnError, Database } from '../src/index.ts';
import { files } from '../src/node/index.ts';
import type { Storage, StorageDriver } from '../src/storage/drivers/driver.ts';
import { memoryDriver } from '../src/storage/drivers/memory-driver.ts';
import { INVALID_PARAMS, RpcError, serveRpc } from './json-rpc.ts';
import { readOnly } from './read-only.ts';
import { callTool, toolsOf } from './tools.ts';

const USAGE = `cairndb mcp <directory> <database>   a database of files(directory)
cairndb mcp <file>                   a file of exportAll() or exportBackup()

An MCP server over stdio: list_collections, query, aggregate, explain. It changes nothing.`;

/** Versions of the protocol, the newest first. */
const VERSIONS = ['2025-06-18', '2025-03-26', '2024-11-05'];

const [command, path = '', name] = process.argv.slice(2);
try {
  if (command !== 'mcp' || path === '') throw new Error(USAGE);
  await serve(await openDatabase(path, name));
} catch (error) {
  const { code, message } = error as Partial<CairnError>;
  console.error(code ? `${code}: ${message}` : message);
  process.exitCode = 1;
}

interface Opened {
  readonly db: Database;
  /** What the engine reads. */
  readonly stored: () => Promise<Storage>;
}

async function openDatabase(path: string, name: string | undefined): Promise<Opened> {
  const isFile = isFileAt(path);
  if (!isFile && name === undefined) throw new Error(`Name the database.\n\n${USAGE}`);
  const source = isFile ? memoryDriver() : files(path);
  const database = name ?? 'export';
  if (!isFile && !(await source.has?.(database)))
    throw new Error(`There is no database "${database}" in ${path}.`);
  const { driver, stored } = watched(readOnly(source));
  const db = new Database({ name: database, storage: driver });
  await db.ready;
  if (isFile)
    await db.importAll(Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>);
  return { db, stored };
}

/** Whether there is a file, not a folder. @throws where there is neither */
function isFileAt(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const from = `A relative path counts from ${process.cwd()}.`;
    const why =
      code === 'ENOENT'
        ? `There is no folder and no file "${path}". Give the directory of files(), or a file of exportAll() or exportBackup(). ${from}`
        : `"${path}" cannot be read (${message}). Give a path that this user may read. ${from}`;
    throw new Error(why, { cause });
  }
}

/** A driver, and the storage that it has opened. */
function watched(driver: StorageDriver): { driver: StorageDriver; stored: Opened['stored'] } {
  let opening: Promise<Storage> | undefined;
  return {
    driver: {
      kind: driver.kind,
      open(...given) {
        opening = driver.open(...given);
        return opening;
      },
    },
    stored: () => opening as Promise<Storage>,
  };
}

async function serve({ db, stored }: Opened): Promise<void> {
  const tools = toolsOf(db, stored);
  await serveRpc({
    initialize: ({ protocolVersion: asked }) => ({
      protocolVersion: VERSIONS.find((one) => one === asked) ?? VERSIONS[0],
      capabilities: { tools: {} },
      serverInfo: { name: 'cairndb', version },
      instructions: `The database "${db.name}", to be read. Begin with list_collections.`,
    }),
    ping: () => ({}),
    'tools/list': () => ({
      tools: Object.entries(tools).map(([tool, { description, inputSchema }]) => ({
        ...{ name: tool, description, inputSchema, annotations: { readOnlyHint: true } },
      })),
    }),
    'tools/call': ({ name: tool, arguments: given }) => {
      const called = Object.hasOwn(tools, String(tool)) ? tools[String(tool)] : undefined;
      if (!called) throw new RpcError(INVALID_PARAMS, `There is no tool "${String(tool)}".`);
      return callTool(called, given ?? {});
    },
  });
  await db.close();
}
