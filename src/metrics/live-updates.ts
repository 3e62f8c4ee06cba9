import { Counter, Gauge, type Registry } from 'prom-client';
import type { LiveUpdates } from '../live-updates/live-updates.ts';

/** Reports the open streams of this process and the messages that they have sent, at each scrape. */
export function observeStreams(live: LiveUpdates, registry: Registry): void {
  new Gauge({
    name: 'lynxroom_live_streams',
    help: 'Streams of live updates that are open',
    registers: [registry],
    collect() {
      this.set(live.use().open);
    },
  });
  new Counter({
    name: 'lynxroom_live_messages_total',
    help: 'Messages that streams of live updates have sent',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(live.use().sent);
    },
  });
}
