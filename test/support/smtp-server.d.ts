/** The part of the package smtp-server that the tests use. It brings no types of its own. */
declare module 'smtp-server' {
  import type { EventEmitter } from 'node:events';
  import type { Server } from 'node:net';
  import type { Readable } from 'node:stream';

  type Address = { address: string };
  export type Session = { secure: boolean; envelope: { mailFrom: Address | false; rcptTo: Address[] } };
  type Callback = (error?: Error | null) => void;

  export class SMTPServer extends EventEmitter {
    constructor(options: {
      key: string;
      cert: string;
      secure: boolean;
      authOptional: boolean;
      disableReverseLookup: boolean;
      disabledCommands: string[];
      allowInsecureAuth: boolean;
      onAuth(
        auth: { username: string; password: string },
        session: Session,
        callback: (error: Error | null, answer?: { user: string }) => void,
      ): void;
      onRcptTo(address: Address, session: Session, callback: Callback): void;
      onData(stream: Readable, session: Session, callback: Callback): void;
    });
    server: Server;
    close(callback: () => void): void;
  }
}
