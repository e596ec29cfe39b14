/**
 * The worker that writes and reads the files of backups, started for each file. As a SharedWorker
 * it brings ports from one tab to another.
 */
import { hostFileCodec } from '../src/engine/host/file-worker-host.ts';
import { bringPorts, type SharedScope } from '../src/platform/bring-ports.ts';

if ('onconnect' in globalThis) bringPorts(globalThis as unknown as SharedScope);
else hostFileCodec(globalThis as unknown as Parameters<typeof hostFileCodec>[0]);
