/** Live updates of the workspace that the page shows. */

/**
 * Keeps the cached answers of a workspace up to date while the page is open. The layout of `/w/$workspaceId` calls it
 * once. It has no source of updates yet: pages that change by themselves poll with `refetchInterval: LIVE_POLL_MS`.
 */
export function useLive(_workspaceId: number): void {}

export const LIVE_POLL_MS = 5_000;
