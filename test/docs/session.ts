/** Runs the blocks of one page in order, as a reader would: in a shell, in a directory with a running server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { findRunningPostgres } from '../../src/db/embedded.ts';
import { root, run } from '../client/packed-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { containsText, findJsonDifference, findTextDifference } from './answers.ts';
import type { Block } from './pages.ts';

/** The ports that pages name: the server's, and that of a program of the reader. */
const SERVER_PORT = '3000';
const OWN_PORT = '4000';

/** A word in a command, or in an example with tabs, that ends with `...`, for the reader to complete. */
const PASTED = /([A-Za-z][\w:/.?=&%~-]{2,}?)\.\.\.(?![\w.])/g;

const programs: Readonly<Record<string, [program: string, extension: string]>> = {
  ts: ['node', 'ts'],
  js: ['node', 'mjs'],
  python: ['python3', 'py'],
  php: ['php', 'php'],
};

/** An answer is not the one that the page shows. */
export class AnswerError extends Error {}

export type Session = {
  /** Runs a block, or compares an answer. Throws with the place of the block. Throws AnswerError for an answer. */
  run(block: Block): Promise<void>;
  close(): Promise<void>;
};

/** `dir` has the files of the repository, and `.data` of the server on `url`. */
export async function startSession(dir: string, url: string): Promise<Session> {
  const ownPort = String(await freePort());
  const serverPort = new URL(url).port;
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    // With a .curlrc, see below.
    HOME: dir,
    LANG: 'C.UTF-8',
    PORT: ownPort,
    // npm prints the name of each script before it runs it. Pages leave that out.
    npm_config_loglevel: 'silent',
  };
  // So that a request that fails is noticed, even if its answer goes into a file.
  await writeFile(join(dir, '.curlrc'), 'write-out = "%{stderr}HTTP %{http_code}\\n"\n');
  const shell = startShell(dir, env);
  const terminals = new Map<string, Terminal>();
  let printed = '';
  let latest: string | null = null;
  let count = 0;

  const fillIn = (block: Block): string => {
    const code = block.code.replaceAll(SERVER_PORT, serverPort).replaceAll(OWN_PORT, ownPort);
    if (block.language !== 'sh' && block.tab === null) return code;
    return code.replaceAll(PASTED, (word, start: string) => start + findRest(printed, start, word));
  };
  const portsOf = new Map([
    [serverPort, SERVER_PORT],
    [ownPort, OWN_PORT],
  ]);
  // A port may also be a part of a longer number, such as a timestamp.
  const toShown = (output: string): string => output.replaceAll(/\d+/g, (digits) => portsOf.get(digits) ?? digits);
  const keep = (output: string): void => {
    latest = output;
    printed += output;
  };
  const checkLatest = (): void => {
    const isError = latest !== null && /"request_id":/.test(latest);
    if (isError) throw new Error(`the block before it was answered with an error, which is not shown:\n${latest}`);
  };

  const runProgram = async ([program, extension]: [string, string], code: string): Promise<void> => {
    count += 1;
    const name = `block-${count}.${extension}`;
    await writeFile(join(dir, name), code);
    keep(await shell.run(`${program} ./${name}`));
  };

  const runBlock = async (block: Block): Promise<void> => {
    const { language, terminal } = block;
    const program = programs[language];
    if (language === 'json' || language === 'text') return compare(block);
    checkLatest();
    if (block.file !== null) await checkFile(dir, block, fillIn(block));
    else if (terminal !== null) terminals.set(terminal, startTerminal(dir, env, fillIn(block)));
    else if (language === 'sh') keep(await shell.run(fillIn(block)));
    else if (language === 'sql') await query(dir, block.code);
    else if (program !== undefined) await runProgram(program, fillIn(block));
    else throw new Error(`a block of ${language} needs no-run="the reason"`);
  };

  const compare = async ({ language, code, terminal }: Block): Promise<void> => {
    if (terminal !== null) {
      const { output } = terminals.get(terminal) ?? { output: () => '' };
      await eventually(async () => containsText(code, toShown(output()))).catch(() => {
        throw new Error(`the terminal ${terminal} does not print that. It printed:\n${toShown(output())}`);
      });
      printed += output();
      return;
    }
    if (latest === null) throw new Error('this is the answer of no block: add no-run="the reason" if it is an example');
    const answer = toShown(latest);
    latest = null;
    const difference = language === 'json' ? findJsonDifference(code, answer) : findTextDifference(code, answer);
    if (difference !== null) throw new AnswerError(`${difference}. The whole answer is:\n${pretty(answer)}`);
  };

  return {
    async run(block) {
      try {
        await runBlock(block);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const text = `${block.at}: ${message}\nThe rules are in CONTRIBUTING.md, under "Documentation".`;
        throw error instanceof AnswerError ? new AnswerError(text) : new Error(text);
      }
    },
    async close() {
      await Promise.all([shell.close(), ...[...terminals.values()].map((terminal) => terminal.close())]);
    },
  };
}

/**
 * What completes a word such as `lns_...` or `.../join/...`: the rest of the latest text in the output that begins as
 * the word does, or as its last segments do.
 */
function findRest(printed: string, word: string, shown: string): string {
  const segments = word.split(/(?<=[/=:])/);
  for (const index of segments.keys()) {
    const start = segments.slice(index).join('');
    const at = printed.lastIndexOf(start);
    if (at >= 0) return /^[^\s"'\\]*/.exec(printed.slice(at + start.length))?.[0] ?? '';
  }
  throw new Error(`nothing was printed before that completes ${shown}`);
}

/** A file of the repository contains the block. Another file is created. */
async function checkFile(dir: string, { file, code }: Block, filled: string): Promise<void> {
  const path = file ?? '';
  const existing = join(root, path);
  if (!existsSync(existing)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), filled);
    return;
  }
  const quoted = code.replace(/^(?:<\?php\n)?.*\n/, '').trim();
  if (!readFileSync(existing, 'utf8').includes(quoted)) throw new Error(`${path} does not contain this block`);
}

async function query(dir: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: (await findRunningPostgres(join(dir, '.data'))) ?? '' });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function pretty(answer: string): string {
  try {
    return JSON.stringify(JSON.parse(answer), null, 2);
  } catch {
    return answer;
  }
}

/** One shell, whose variables persist. `run` resolves with what a command prints, and throws if it fails. */
function startShell(
  dir: string,
  env: Record<string, string>,
): { run(code: string): Promise<string>; close(): unknown } {
  const child = spawn('sh', ['-eu'], { cwd: dir, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    child.emit('printed');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
    child.emit('printed');
  });
  // A shell that has ended is reported below.
  child.stdin.on('error', () => {});
  const closed = once(child, 'close');
  let count = 0;
  return {
    async run(code) {
      count += 1;
      [output, errors] = ['', ''];
      const name = `.block-${count}.sh`;
      await writeFile(join(dir, name), code);
      // The two streams arrive in any order, so both are read to the end of this block.
      child.stdin.write(`. ./${name} </dev/null\nprintf '\\000'\nprintf '\\000' >&2\n`);
      const isDone = () => output.endsWith('\u0000') && errors.includes('\u0000');
      while (!isDone()) {
        await Promise.race([once(child, 'printed'), closed]);
        if (child.exitCode !== null && !isDone()) throw new Error(`it failed:\n${output}${errors}`);
      }
      const [, status] = /^HTTP ([45]\d\d)$/m.exec(errors) ?? [];
      if (status !== undefined && !/"request_id":/.test(output))
        throw new Error(`a request was answered with ${status}`);
      return output.slice(0, -1);
    },
    close: () => endGroup(child, closed),
  };
}

type Terminal = { output(): string; close(): Promise<unknown> };

/** A terminal with a program that keeps running. */
function startTerminal(dir: string, env: Record<string, string>, code: string): Terminal {
  const child = spawn('sh', ['-euc', code], { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const closed = once(child, 'close');
  return { output: () => output, close: () => endGroup(child, closed) };
}

/** Ends a shell with what it has started. */
async function endGroup(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  await closed;
}

/** Whether a program is installed. */
export async function isInstalled(program: string): Promise<boolean> {
  return run('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  );
}
