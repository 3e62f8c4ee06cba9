/**
 * The receiver of the webhook benches, as a process of its own. `/dead` never responds, `/slow` responds after 9.5 s,
 * any other path responds at once. It records when each request arrived and reports the requests to its parent.
 */
import { createServer } from 'node:http';
import type { Arrival, ReceiverReport, ReceiverRequest } from './webhook-world.ts';

const SLOW_MS = 9_500;
const ROOM_ID = /"room_id":(\d+)/;

let arrivals: Arrival[] = [];
let awaited = Number.POSITIVE_INFINITY;

function report(message: ReceiverReport): void {
  void process.send?.(message);
}

function record(arrival: Arrival): void {
  arrivals.push(arrival);
  if (arrivals.length === awaited) report({ kind: 'reached' });
}

process.on('message', (request: ReceiverRequest) => {
  if (request.kind === 'take') {
    report({ kind: 'arrivals', arrivals });
    arrivals = [];
    awaited = Number.POSITIVE_INFINITY;
  } else {
    awaited = request.count;
    if (arrivals.length >= awaited) report({ kind: 'reached' });
  }
});
process.on('disconnect', () => process.exit(0));

createServer((request, response) => {
  const at = Number(process.hrtime.bigint()) / 1e6;
  const path = request.url ?? '';
  let text = '';
  request.setEncoding('latin1');
  request.on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => {
    record({ path, roomId: Number(ROOM_ID.exec(text)?.[1] ?? 0), at });
    if (path === '/dead') return;
    const respond = () => response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
    if (path === '/slow') setTimeout(respond, SLOW_MS);
    else respond();
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
