/** A member who reads live updates. Their rights are rechecked while the stream is open. */
import type { Actor, Caller } from '../auth/identify.ts';
import { unauthorized } from '../core/errors.ts';
import type { Viewer } from '../events/visibility.ts';
import { limitedNetworkOf, requireRole, requireScope } from './access.ts';
import type { Context } from './context.ts';

export type LiveReader = {
  workspaceId: number;
  /** The owner toward whose limit the stream counts. */
  owner: string;
  network: string | null;
  guestIn: null;
  group: string;
  /** A notification about one of these topics means that the rights may have changed. */
  topics: readonly string[];
  /** The rights that the reader has now. */
  viewer(): Viewer;
  /** Checks the rights again. Throws 401, 403 or 404 as a new call would. */
  recheck(): Promise<void>;
  hungUp: AbortSignal;
};

/** `name` is the name of the operation, which must require the role `member`. */
export function createLiveReader(context: Context, name: string, actor: Actor): LiveReader {
  const { workspaceId, userId, credential } = actor;
  let viewer = toViewer(actor);
  const isOfWorkspace = credential?.kind === 'key' && credential.isOfWorkspace;
  return {
    workspaceId,
    owner: isOfWorkspace ? `workspace:${workspaceId}` : `user:${userId}`,
    network: limitedNetworkOf(context),
    guestIn: null,
    group: `workspace:${workspaceId}`,
    topics: [
      `user:${userId}`,
      `workspace:${workspaceId}`,
      ...(credential?.kind === 'key' ? [`keys:${workspaceId}`] : []),
    ],
    viewer: () => viewer,
    async recheck() {
      const identity = await context.identifyAgain(workspaceId);
      const caller: Caller | null = identity.caller;
      if (caller === null) throw identity.refusal ?? unauthorized();
      const now = requireRole(caller, identity, 'member');
      requireScope(caller, name, { isRead: true, minRole: 'member' });
      viewer = toViewer(now);
    },
    hungUp: context.bounds.hungUp,
  };
}

function toViewer({ userId, role, credential }: Actor): Viewer {
  return { userId, role, scopes: credential?.kind === 'key' ? credential.scopes : null };
}
