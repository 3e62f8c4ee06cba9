/** The columns of a booking page that is never open, for tests that insert a page directly. */
export function bookingPageData(page: {
  workspaceId: number;
  userId: number;
  title: string;
  slug: string;
  createdAt: Date;
}) {
  return {
    ...page,
    duration: 30,
    timeZone: 'UTC',
    hours: [],
    updatedAt: page.createdAt,
  };
}
