/** The server as a process of its own, as `npm start` runs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export type ServerProcess = {
  child: ChildProcess;
  /** Everything that it has written so far. */
  output(): string;
  /** Resolves with the address once it listens; rejects with its output when it ends before. */
  ready: Promise<string>;
  /** Resolves with the exit status, null after a signal. */
  ended: Promise<number | null>;
};

const bare = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LANG: 'C.UTF-8' };

/** Starts `src/server.ts` with these variables and no others. PORT is 0, a free one, unless it is given. */
export function startServer(env: Record<string, string>): ServerProcess {
  const child = spawn(process.execPath, ['src/server.ts'], {
    cwd: root,
    env: { ...bare, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const ended = once(child, 'close').then(([status]) => status as number | null);
  const ready = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      const url = /listens on (http:\S+)[\s\S]*npm run example:webhooks|"url":"(http:[^"]+)"/.exec(text);
      const found = url?.[1] ?? url?.[2];
      if (found) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then((status) => reject(new Error(`The server ended with ${status}:\n${text}`)));
  });
  // Where only the end is awaited.
  ready.catch(() => {});
  return { child, output: () => text, ready, ended };
}

/** Ends a server as a terminal or a supervisor does, and resolves with its exit status. */
export function stopServer(server: ServerProcess): Promise<number | null> {
  server.child.kill('SIGTERM');
  return server.ended;
}
