/** A booking page as a row, for tests that need one and not how it is made: open on no day. */
export function pageRow(page: { workspaceId: number; userId: number; title: string; slug: string; createdAt: Date }) {
  return {
    ...page,
    duration: 30,
    timeZone: 'UTC',
    hours: [],
    updatedAt: page.createdAt,
  };
}
