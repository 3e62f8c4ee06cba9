/** Where a workspace begins. Apart from the navigation, whose icons nobody needs before signing in. */
export const FIRST_PAGE = '/w/$workspaceId/library';
