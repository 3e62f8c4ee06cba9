/** The type of a row in the list of operations (operations.ts), and what the tests derive from a row. */
import type { Role } from '../../src/core/roles.ts';
import { isAtLeast } from '../../src/core/roles.ts';
import type { TestApp } from '../support/test-app.ts';
import type { Scene, User, World } from './scene.ts';
import type { Call, Content, Input } from './transports.ts';

export type Refusal = {
  input: Input;
  message: string;
  path: string;
  /** Set if it is a guess of the password, of which only the log of the account has an entry. */
  isLogged?: true;
};

export type Child =
  | 'labelId'
  | 'itemId'
  | 'userId'
  | 'name'
  | 'recordingId'
  | 'meetingId'
  | 'keyId'
  | 'tokenId'
  | 'passId'
  | 'webhookId'
  | 'deliveryId'
  | 'messageId'
  | 'connectionId'
  | 'roomName'
  | 'token'
  | 'participantId'
  | 'contactId'
  | 'bookingId'
  | 'pageId'
  | 'slug'
  | 'identityId'
  | 'sessionId'
  | 'passkeyId'
  | 'invitationId'
  | 'uploadId'
  | 'entryId'
  | 'appId';

/** Whether the child is identified by a string. No string is malformed: one that cannot exist is unknown. */
export function isNamedByText(child: Child): boolean {
  return ['name', 'messageId', 'roomName', 'token', 'slug', 'uploadId'].includes(child);
}

/** A call that does not follow from the row and the caller, such as one with a credential of this operation only. */
export type Case = {
  /** Replaces parts of the call. Without them it has no token, and the input and content of the row. */
  call(scene: Scene): Partial<Pick<Call, 'token' | 'input' | 'content' | 'headers'>>;
  status: number;
  /** The error message. */
  message?: string;
};

export type Row = {
  /**
   * The lowest caller who may call it.
   * - `anyone`: without a credential.
   * - `user`: any signed-in user.
   * - `room host`: the room's user, and the owner and admins of the workspace. For everybody else that room does not
   *   exist.
   * - `provider`: the meeting provider of the scene's connection. `content` is signed. A session or key is
   *   ignored.
   * - A role: members with at least that role in the workspace of the input.
   */
  who: 'anyone' | 'user' | 'room host' | 'provider' | Role;
  /** Set if `anyone` may send a credential, which must then be valid. */
  acceptsCredential?: true;
  /** Whether a key may call it as its creator. If not, every key gets 403. */
  keys: boolean;
  /** The level of the scope that a key needs, if it does not follow from `who` and the kind of the call. */
  scope?: 'read' | 'write' | 'admin';
  /** The status of success over REST, if it is not 200. */
  status?: 201 | 204;
  /** The name of the input field with the workspace, if it is not `id`. */
  workspace?: 'workspaceId' | 'workspace_id';
  /** The text of 401, if it is not "Unauthorized". */
  unauthorized?: string;
  /** The text of 403, if it is not "Forbidden". */
  forbidden?: string;
  /** The host may call it too, who is known only once the input is valid: then 400 comes before 403 for members. */
  checksHostLast?: boolean;
  /** A valid input for a call by `by`. That of a raw operation has the parameters of its path. */
  input(scene: Scene, by: User): Input;
  /** The body of a raw operation that takes one, with its headers. */
  content?(scene: Scene): Content;
  /** Headers that a call needs besides the credential. */
  headers?: Readonly<Record<string, string>>;
  /** Whether a successful call changes rows. */
  writes: boolean;
  /** Fields of the response that are random in this operation. */
  random?: readonly string[];
  /** Creates a user whose successful call does not disturb later calls, if a user of the scene would. */
  caller?(world: World): Promise<User>;
  /** Brings a user of the scene into the state in which the call succeeds, if no `caller` is created for it. */
  prepare?(app: TestApp, user: User): Promise<void>;
  /** Input fields that name a child of the workspace, with the 404 text for an unknown one. */
  children?: Partial<Record<Child, string>>;
  /** Invalid fields, merged into the valid input, with the first issue. */
  wrong?: readonly Refusal[];
  /** An input that conflicts with existing rows. */
  conflict?: { input(scene: Scene, by: User): Input; message: string };
  /** Further calls, by a title that completes "a call with ...". */
  cases?: Readonly<Record<string, Case>>;
};

/** The rows of a feature, by the name of the operation. */
export type Rows = Record<string, Row>;

/** The role that the operation requires, and the input field with the workspace. Null if it is in no workspace. */
export function requiredRole({ who, workspace }: Row): { min: Role; parameter: string } | null {
  return who === 'anyone' || who === 'user' || who === 'room host' || who === 'provider'
    ? null
    : { min: who, parameter: workspace ?? 'id' };
}

const roles: readonly Role[] = ['owner', 'admin', 'member'];

/** The members of the scene who may call the operation, from the highest role to the lowest. */
export function allowedRoles(row: Row): readonly [Role, ...Role[]] {
  switch (row.who) {
    case 'owner':
      return ['owner'];
    case 'room host':
    case 'admin':
      return ['owner', 'admin'];
    case 'member':
      return ['owner', 'admin', 'member'];
    default:
      return ['member'];
  }
}

/** The members of the scene whose role is below `min`. */
export function rolesBelow(min: Role): readonly Role[] {
  return roles.filter((role) => !isAtLeast(role, min));
}

/** The call of an operation by `by` that succeeds if `by` may call it. */
export function validCall(name: string, row: Row, scene: Scene, by: User): Call {
  const token = row.who === 'anyone' || row.who === 'provider' ? undefined : by.token;
  return { name, token, input: row.input(scene, by), ...contentOf(row, scene) };
}

/** The content and the headers of the call, if the operation takes them. */
export function contentOf(row: Row, scene: Scene): Pick<Call, 'content' | 'headers'> {
  return { ...(row.content && { content: row.content(scene) }), ...(row.headers && { headers: row.headers }) };
}

/** The same without the signature of a provider, so that the token is the only credential of the call. */
export function unsignedContentOf(row: Row, scene: Scene): Pick<Call, 'content' | 'headers'> {
  const whole = contentOf(row, scene);
  const { content } = whole;
  if (content === undefined || row.who !== 'provider') return whole;
  return { content: content.body === undefined ? {} : { body: content.body } };
}

/** The input of an operation that takes the workspace alone. */
export function inWorkspace({ workspaceId }: Scene): Input {
  return { id: workspaceId };
}

/** Invalid inputs that many operations share. */
export const wrongTokens: readonly Refusal[] = [
  { input: { token: undefined }, message: 'token is required', path: 'token' },
  { input: { token: 5 }, message: 'token must be a string', path: 'token' },
];

export const wrongNames: readonly Refusal[] = [
  nameRequired(undefined),
  nameRequired(''),
  nameRequired(' \t '),
  nameRequired(null),
  { input: { name: 5 }, message: 'name must be a string', path: 'name' },
  { input: { name: ['a'] }, message: 'name must be a string', path: 'name' },
];
export const wrongColors: readonly Refusal[] = ['#GGGGGG', 'red', '#12345', ''].map((color) => ({
  input: { color },
  message: 'color must be a hex color such as #6366f1',
  path: 'color',
}));
export const wrongPages: readonly Refusal[] = [
  { input: { limit: 0 }, message: 'limit must be an integer between 1 and 100', path: 'limit' },
  { input: { limit: 101 }, message: 'limit must be an integer between 1 and 100', path: 'limit' },
  { input: { offset: -1 }, message: 'offset must be an integer between 0 and 2147483647', path: 'offset' },
  { input: { cursor: 'x' }, message: 'cursor must be the next_cursor of an earlier page', path: 'cursor' },
];

/** Invalid ranges of the lists that can be filtered by time. */
export const wrongRanges: readonly Refusal[] = [
  { input: { from: -1 }, message: 'from must be an integer between 0 and 253402300799', path: 'from' },
  { input: { from: 5, to: 5 }, message: '`to` must be after `from`', path: 'to' },
  {
    input: { search: 'a\u0000' },
    message: 'search must not contain NUL or invalid Unicode',
    path: 'search',
  },
];

function nameRequired(name: unknown): Refusal {
  return { input: { name }, message: 'Name is required', path: 'name' };
}
