/** The commands that call the API. They need nothing but the address of a service. */
import type { Command } from '../command.ts';
import { login, logout, whoami } from './account.ts';
import { api } from './api.ts';
import { contactsImport } from './contacts.ts';
import { keys } from './keys.ts';
import { download, ls } from './library.ts';
import { mcp } from './mcp.ts';
import { rooms } from './rooms.ts';
import { upload } from './upload.ts';
import { webhooksListen } from './webhooks-listen.ts';

export const apiCommands: readonly Command[] = [
  login,
  logout,
  whoami,
  upload,
  ls,
  download,
  ...rooms,
  ...keys,
  contactsImport,
  webhooksListen,
  mcp,
  api,
];
