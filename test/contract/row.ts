/** What a row of the table of operations says; see operations.ts. */
import type { Role } from '../../src/core/roles.ts';
import type { Scene, Someone, World } from './scene.ts';
import type { Input } from './transports.ts';

export type Refusal = { input: Input; message: string; path: string };

export type Child =
  | 'labelId'
  | 'itemId'
  | 'userId'
  | 'name'
  | 'recordingId'
  | 'keyId'
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
  | 'slug';

/** Children that are named by text, of which any may be asked for. */
export function isNamedByText(child: Child): boolean {
  return ['name', 'messageId', 'roomName', 'token', 'slug'].includes(child);
}

export type Row = {
  /**
   * Who may at least call it. `anyone`: without a credential; `user`: any signed-in user; `room owner`: who the room of
   * the scene belongs to, which is its owner (to everyone else there is no such room); `room host`: they, and owner and
   * admin of its workspace (to everyone else there is no such room); a role: who has it at least in the workspace of
   * the input.
   */
  who: 'anyone' | 'user' | 'room owner' | 'room host' | Role;
  /** Whether `anyone` may show a credential all the same, which then must be a valid one. */
  knowsCaller?: true;
  /** Whether a key may call it as its creator may. Where not, a key is refused with 403. */
  keys: boolean;
  /** Status of success through REST, where it is not 200. */
  status?: 201;
  /** What the input calls the workspace, where it is not `id`. */
  workspace?: 'workspaceId' | 'workspace_id';
  /** The text of 403, where it is not "Forbidden". */
  forbidden?: string;
  /** A valid input. `by` is who calls. */
  input(scene: Scene, by: Someone): Input;
  /** Whether a successful call changes rows. */
  writes: boolean;
  /** Fields of the answer that are random in this operation. */
  random?: readonly string[];
  /** Someone who can call it without harm to later calls, where that is not one of the scene. */
  caller?(world: World): Promise<Someone>;
  /** Parts of the input that name a child of the workspace, with the 404 text for one that is not there. */
  children?: Partial<Record<Child, string>>;
  /** Wrong input, laid over the valid one, with the first issue that names it. */
  wrong?: readonly Refusal[];
  /** An input that stands against what is there already. */
  conflict?: { input(scene: Scene, by: Someone): Input; message: string };
};

/** The rows of a feature, by the name of the operation. */
export type Rows = Record<string, Row>;

/** Who is refused by role, and where: null for what is in no workspace. */
export function workspaceOf({ who, workspace }: Row): { min: Role; parameter: string } | null {
  return who === 'anyone' || who === 'user' || who === 'room owner' || who === 'room host'
    ? null
    : { min: who, parameter: workspace ?? 'id' };
}

/** The input of an operation that takes the workspace alone. */
export function inWorkspace({ workspaceId }: Scene): Input {
  return { id: workspaceId };
}

function nameRequired(name: unknown): Refusal {
  return { input: { name }, message: 'Name is required', path: 'name' };
}
/** Wrong inputs that many operations share. */
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
];
