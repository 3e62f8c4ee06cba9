/** The first page of a workspace. Not in `navigation.ts`, so that the sign-in page does not load the icons there. */
export const FIRST_PAGE = '/w/$workspaceId';
