/** The worker that writes and reads the files of backups, started for each file. */
import { hostFileCodec } from '../src/transport/file-worker/file-worker-host.ts';

hostFileCodec(globalThis as unknown as Parameters<typeof hostFileCodec>[0]);
