/** The server as a process of its own, as `npm start` runs it. */
import { type ScriptProcess, startCommand, startScript } from './script-process.ts';

/** `ready` resolves with the URL of the server, once it has printed its banner or logged that it listens. */
export type ServerProcess = ScriptProcess<string>;

const READY = /is listening on (http:\S+)[\s\S]*npm run example:webhooks|"url":"(http:[^"]+)"/;

/** Starts the server with these environment variables, as `startScript` does. By default, PORT is 0: a free port. */
export function startServer(env: Record<string, string>): ServerProcess {
  return startScript('src/server.ts', { PORT: '0', ...env }, findUrl);
}

/** As `startServer`, through npm, and without the console, whose build takes a while. The process is npm's. */
export function startServerByNpm(env: Record<string, string>): ServerProcess {
  return startCommand(['npm', 'start'], { PORT: '0', CONSOLE: '0', ...env }, findUrl);
}

function findUrl(output: string): string | undefined {
  const [, printed, logged] = READY.exec(output) ?? [];
  return printed ?? logged;
}

/** Stops a server as a terminal or a supervisor does, and resolves with its exit status. */
export function stopServer(server: ServerProcess): Promise<number | null> {
  return server.end('SIGTERM');
}
