/** A real mail server on a free port. */
import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';

const fixture = (name: string): string =>
  readFileSync(new URL(`../webhook-delivery/fixtures/${name}`, import.meta.url), 'utf8');

/** The certificate of the server, which only those trust who are told to. */
export const certificate = fixture('self-signed.cert.pem');

export type ReceivedMail = { to: string[]; from: string; raw: string; isEncrypted: boolean };

export type MailServer = {
  url: string;
  port: number;
  /** Every message that was accepted or answered, in order. */
  received: ReceivedMail[];
  close(): Promise<void>;
};

/** An error with the code that the server answers. */
export function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

export type MailServerOptions = {
  /** Called for each recipient. Throws to refuse it. */
  onRecipient?: (address: string) => void;
  /** Called after the message was received. Throws to refuse it. The answer waits for a promise. */
  onMessage?: (mail: ReceivedMail) => void | Promise<void>;
  offersTls?: boolean;
  isTlsOnly?: boolean;
  /** The only user and password, if there is one. */
  login?: { user: string; pass: string };
};

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    key: fixture('self-signed.key.pem'),
    cert: certificate,
    secure: options.isTlsOnly ?? false,
    authOptional: options.login === undefined,
    disableReverseLookup: true,
    disabledCommands: [...(options.offersTls ? [] : ['STARTTLS']), ...(options.login ? [] : ['AUTH'])],
    allowInsecureAuth: true,
    onAuth(auth, _session, callback) {
      const isRight = auth.username === options.login?.user && auth.password === options.login?.pass;
      callback(isRight ? null : new Error('Wrong password'), isRight ? { user: auth.username } : undefined);
    },
    onRcptTo({ address }, _session, callback) {
      callback(catching(() => options.onRecipient?.(address)));
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail: ReceivedMail = {
          to: rcptTo.map(({ address }) => address),
          from: mailFrom === false ? '' : mailFrom.address,
          raw: Buffer.concat(chunks).toString('utf8'),
          isEncrypted: session.secure,
        };
        received.push(mail);
        Promise.resolve(mail)
          .then(options.onMessage)
          .then(
            () => callback(null),
            (error: Error) => callback(error),
          );
      });
    },
  });
  server.on('error', () => {});
  const port = await listen(server.server);
  const scheme = options.isTlsOnly ? 'smtps' : 'smtp';
  const login = options.login ? `${options.login.user}:${options.login.pass}@` : '';
  return {
    url: `${scheme}://${login}127.0.0.1:${port}`,
    port,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A mail server that takes the whole message and then ends the connection without an answer. */
export async function startForgetfulServer(): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    let isMessage = false;
    socket.on('error', () => {});
    socket.write('220 ready\r\n');
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text.endsWith('\r\n.\r\n')) {
        received.push({ to: [], from: '', raw: text, isEncrypted: false });
        socket.destroy();
      } else if (text.endsWith('DATA\r\n')) {
        text = '';
        isMessage = true;
        socket.write('354 go on\r\n');
      } else if (!isMessage && text.endsWith('\r\n')) socket.write('250 ok\r\n');
    });
  });
  const port = await listen(server);
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  return { url: `smtp://127.0.0.1:${port}`, port, received, close };
}

function catching(work: () => void): Error | null {
  try {
    work();
    return null;
  } catch (error) {
    // `as`: the callbacks of the tests throw errors.
    return error as Error;
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
