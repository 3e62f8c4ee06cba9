/**
 * Sends one call over many connections until the time is over, in a process of its own, so that reading large answers
 * does not delay the calls that are measured. Prints how the calls ended, as JSON:
 *   node bench/fairness/attacker.ts <url> <connections> <seconds> <call as JSON>
 */
import { type Call, type Connection, openConnection } from '../load.ts';

export type Outcome = { answered: number; refused: number; failed: number; cut: number; failure?: string };

const [url = '', connections = '', seconds = '', json = ''] = process.argv.slice(2);
const call: Call = JSON.parse(json);
const end = performance.now() + Number(seconds) * 1000;
const outcome: Outcome = { answered: 0, refused: 0, failed: 0, cut: 0 };
const open = new Set<Connection>();

const sending = Array.from({ length: Number(connections) }, async () => {
  while (performance.now() < end) {
    const connection = await openConnection(url);
    open.add(connection);
    try {
      while (performance.now() < end) {
        const { status, body } = await connection.send(call);
        if (status < 300) outcome.answered += 1;
        else if (status === 429 || status === 503) outcome.refused += 1;
        else {
          outcome.failed += 1;
          outcome.failure ??= `${status} ${body.slice(0, 300)}`;
        }
      }
    } catch {
      if (performance.now() < end) outcome.cut += 1;
    } finally {
      connection.close();
      open.delete(connection);
    }
  }
});
// Calls that are under way at the end do not delay it.
await Promise.race([Promise.all(sending), new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000))]);
process.stdout.write(JSON.stringify(outcome), () => process.exit(0));
