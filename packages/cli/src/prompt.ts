/** Questions to the person at the terminal, or answers from a pipe. */
import { createInterface, type Interface } from 'node:readline';
import { CliError, type Context, ExitCode } from './command.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const BACKSPACE = ['\u007f', '\b'];

export type Prompt = {
  /** Asks for a line. Without an answer, the result is `preset`. */
  ask(question: string, preset?: string): Promise<string>;
  /** Asks for a line that the terminal does not show. */
  askSecret(question: string): Promise<string>;
  close(): void;
};

/**
 * Opens standard input. Questions are written to standard error, so that standard output has only the result. If
 * standard input is not a terminal, each of its lines is an answer.
 */
export function openPrompt({ io, signal }: Pick<Context, 'io' | 'signal'>): Prompt {
  return io.stdin.isTTY ? openTerminal(io, signal) : openPipe(io);
}

function openTerminal(io: Context['io'], signal: AbortSignal): Prompt {
  return {
    ask: async (question, preset = '') => {
      const text = preset === '' ? `${question}: ` : `${question} [${preset}]: `;
      return (await readLine(io, signal, text, true)).trim() || preset;
    },
    askSecret: (question) => readLine(io, signal, `${question}: `, false),
    close: () => {},
  };
}

/** Reads a line in raw mode, in which the terminal does not echo what is typed. */
function readLine({ stdin, stderr }: Context['io'], signal: AbortSignal, prompt: string, isShown: boolean) {
  stderr.write(prompt);
  stdin.setRawMode?.(true);
  stdin.resume();
  let cleanUp = (): void => {};
  return new Promise<string>((resolve, reject) => {
    let line = '';
    const onCharacter = (character: string): void => {
      if (character === CTRL_C) process.kill(process.pid, 'SIGINT');
      else if (character === '\r' || character === '\n') resolve(line);
      else if (character === CTRL_D && line === '') reject(new CliError('No answer', { exitCode: ExitCode.usage }));
      else if (BACKSPACE.includes(character)) {
        if (line !== '' && isShown) stderr.write('\b \b');
        line = [...line].slice(0, -1).join('');
      } else if (character >= ' ') {
        line += character;
        if (isShown) stderr.write(character);
      }
    };
    const onData = (chunk: Buffer | string): void => [...chunk.toString()].forEach(onCharacter);
    const onAbort = (): void => reject(signal.reason);
    stdin.on('data', onData);
    signal.addEventListener('abort', onAbort, { once: true });
    cleanUp = () => {
      stdin.off('data', onData);
      signal.removeEventListener('abort', onAbort);
      stdin.setRawMode?.(false);
      stdin.pause();
      stderr.write('\n');
    };
  }).finally(() => cleanUp());
}

/** Standard input is opened with the first question: a command that asks nothing leaves it alone. */
function openPipe({ stdin }: Context['io']): Prompt {
  let input: Interface | undefined;
  let lines: AsyncIterator<string> | undefined;
  const next = async (question: string): Promise<string> => {
    input ??= createInterface({ input: stdin, terminal: false });
    lines ??= input[Symbol.asyncIterator]();
    const { value, done } = await lines.next();
    if (done) throw new CliError(`${question}: no answer on standard input`, { exitCode: ExitCode.usage });
    return value;
  };
  return {
    ask: async (question, preset = '') => (await next(question)).trim() || preset,
    askSecret: next,
    close: () => input?.close(),
  };
}
