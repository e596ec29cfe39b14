import type { Endpoint } from 'comlink';
import type { FilePart } from '../../backup/file/file-contents.ts';
import { readFile } from '../../backup/file/read-file.ts';
import { writeFile } from '../../backup/file/section-writer.ts';
import { HELLO, READY } from '../../protocol/ready.ts';
import { toWire } from '../../protocol/wire-error.ts';
import type { FileReply, FileRequest } from '../../protocol/wire-protocol.ts';

/** Writes or reads one file for the page at the other end. */
export function hostFileCodec(page: Endpoint): void {
  let output: AsyncGenerator<unknown, void> | undefined;
  let supply: (input: { readonly value?: unknown }) => void = () => undefined;
  const reply = (message: FileReply, transfer: Transferable[] = []) =>
    page.postMessage(message, transfer);
  async function* input<T>(): AsyncGenerator<T, void> {
    for (;;) {
      const { value } = await new Promise<{ readonly value?: unknown }>((supplied) => {
        supply = supplied;
        reply({ kind: 'pull' });
      });
      if (value === undefined) return;
      yield value as T;
    }
  }
  const next = async () => {
    try {
      const { value } = (await output?.next()) ?? {};
      reply(
        { kind: 'output', value },
        value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : [],
      );
    } catch (error) {
      reply({ kind: 'failure', error: toWire(error) });
    }
  };
  page.addEventListener('message', (event) => {
    const request = (event as MessageEvent<FileRequest | typeof HELLO>).data;
    if (request === HELLO) page.postMessage(READY);
    else if (request.kind === 'write') output = writeFile(input<FilePart>());
    else if (request.kind === 'read') output = readFile(input<Uint8Array>());
    else if (request.kind === 'next') void next();
    else if (request.kind === 'input') supply(request);
    else reply({ kind: 'pong' });
  });
  page.postMessage(READY);
}
