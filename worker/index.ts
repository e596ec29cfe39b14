/** The worker of `connect()`: hosts an engine behind its own message port, and does nothing else. */
import type { Endpoint } from 'comlink';
import { serve } from '../src/transport/worker/worker-host.ts';

serve(globalThis as unknown as Endpoint);
