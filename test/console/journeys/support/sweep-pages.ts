/** Every page of the console, as the sweep opens it. A file of `web/src/routes` or `web/pages` has at least one row. */
import type { Page } from 'playwright-core';
import type { SweepData } from './sweep-data.ts';

export type SweepPage = {
  /** The file that it shows. */
  file: string;
  path: (data: SweepData) => string;
  /** What tells apart two rows of one file. */
  state?: string;
  /** It is opened by a visitor who is not signed in. */
  isPublic?: true;
  /** Leads from the page that was loaded to the one to look at. */
  enter?: (page: Page) => Promise<void>;
};

const workspacePage = (file: string, path: (data: SweepData) => string, state?: string): SweepPage => ({
  file: `web/src/routes/w/$workspaceId/${file}`,
  path: (data) => `/w/${data.id}${path(data)}`,
  ...(state !== undefined && { state }),
});

const publicPage = (file: string, path: (data: SweepData) => string, state?: string): SweepPage => ({
  file: `web/${file}`,
  path,
  isPublic: true,
  ...(state !== undefined && { state }),
});

/** A name without a place to break. */
const NAME = 'Donaudampfschifffahrtsgesellschaft'.repeat(2);

const meetingPage = (room: (data: SweepData) => string, state: string, enter: (page: Page) => Promise<void>) => ({
  ...publicPage('src/routes/room.$roomName.tsx', (data) => `/room/${room(data)}`, state),
  enter,
});

export const SWEEP_PAGES: readonly SweepPage[] = [
  workspacePage('index.tsx', () => ''),
  workspacePage('library.tsx', () => '/library'),
  workspacePage('library.tsx', ({ itemId }) => `/library?item=${itemId}`, 'item'),
  workspacePage('library.tsx', ({ labelId }) => `/library?label=${labelId}&search=Donau`, 'filtered'),
  workspacePage('library.tsx', () => '/library?search=nothing', 'nothing found'),
  workspacePage('trash.tsx', () => '/trash'),
  workspacePage('rooms.index.tsx', () => '/rooms'),
  workspacePage('rooms.$roomName.tsx', ({ roomName }) => `/rooms/${roomName}`),
  workspacePage('meetings.tsx', () => '/meetings'),
  workspacePage('recordings.index.tsx', () => '/recordings'),
  workspacePage('recordings.$recordingId.tsx', ({ recordingId }) => `/recordings/${recordingId}`),
  workspacePage('recordings.$recordingId.tsx', () => '/recordings/999999999', 'unknown'),
  workspacePage('contacts.index.tsx', () => '/contacts'),
  workspacePage('contacts.$contactId.tsx', ({ contactId }) => `/contacts/${contactId}`),
  workspacePage('contacts.$contactId.tsx', () => '/contacts/999999999', 'unknown'),
  workspacePage('analytics.tsx', () => '/analytics'),
  workspacePage('activity.tsx', () => '/activity'),
  workspacePage('bookings.tsx', () => '/bookings'),
  workspacePage('booking-pages.index.tsx', () => '/booking-pages'),
  workspacePage('booking-pages.$pageId.tsx', ({ pageId }) => `/booking-pages/${pageId}`),
  workspacePage('api-keys.tsx', () => '/api-keys'),
  workspacePage('webhooks.index.tsx', () => '/webhooks'),
  workspacePage('webhooks.$webhookId.tsx', ({ webhookId }) => `/webhooks/${webhookId}`),
  workspacePage('embedding.tsx', () => '/embedding'),
  workspacePage('connections.tsx', () => '/connections'),
  workspacePage('members.tsx', () => '/members'),
  workspacePage('usage.tsx', () => '/usage'),
  workspacePage('audit.tsx', () => '/audit'),
  workspacePage('branding.tsx', () => '/branding'),
  workspacePage('settings.tsx', () => '/settings'),
  { file: 'web/src/routes/account/index.tsx', path: () => '/account' },
  { file: 'web/src/routes/account/security.tsx', path: () => '/account/security' },
  { file: 'web/src/routes/account/sessions.tsx', path: () => '/account/sessions' },
  { file: 'web/src/routes/account/activity.tsx', path: () => '/account/activity' },
  { file: 'web/src/routes/account/data.tsx', path: () => '/account/data' },
  { file: 'web/src/routes/new-workspace.tsx', path: () => '/new-workspace' },
  // The journey of the settings looks at what a member sees there.
  { file: 'web/src/routes/confirm-email.tsx', path: () => '/confirm-email' },
  {
    file: 'web/src/routes/sign-in-required.$workspaceId.tsx',
    path: () => '/sign-in-required/999999999',
    state: 'unknown workspace',
  },
  { file: 'web/src/routes/mail.tsx', path: () => '/mail' },
  { file: 'web/src/routes/join.$token.tsx', path: ({ inviteToken }) => `/join/${inviteToken}` },
  { file: 'web/src/routes/__root.tsx', path: () => '/there/is/no/such/page', state: 'not found' },
  { file: 'web/src/routes/__root.tsx', path: () => '/w/999999999/library', state: 'unknown workspace' },
  publicPage('src/routes/index.tsx', () => '/'),
  publicPage('src/routes/index.tsx', () => '/?ended=true&next=%2Faccount', 'session ended'),
  publicPage('src/routes/register.tsx', () => '/register'),
  publicPage('src/routes/forgot-password.tsx', () => '/forgot-password'),
  publicPage('src/routes/join.$token.tsx', ({ inviteToken }) => `/join/${inviteToken}`, 'visitor'),
  publicPage('src/routes/room.$roomName.tsx', ({ roomName }) => `/room/${roomName}`),
  publicPage('src/routes/room.$roomName.tsx', () => '/room/there-is-none', 'unknown'),
  meetingPage(
    ({ meetingRoomName }) => meetingRoomName,
    'lobby',
    async () => {},
  ),
  meetingPage(({ waitingRoomName }) => waitingRoomName, 'waiting', askToJoin),
  meetingPage(
    ({ meetingRoomName }) => meetingRoomName,
    'meeting',
    (page) => joinAndShow(page, 'People'),
  ),
  meetingPage(
    ({ meetingRoomName }) => meetingRoomName,
    'chat',
    (page) => joinAndShow(page, 'Chat'),
  ),
  publicPage('src/routes/book.$slug.index.tsx', ({ slug }) => `/book/${slug}`),
  publicPage('src/routes/embed.book.$name.tsx', ({ slug }) => `/embed/book/${slug}`),
  publicPage('src/routes/embed.room.$name.tsx', ({ roomName }) => `/embed/room/${roomName}`),
  publicPage(
    'src/routes/embed.$part.$workspaceId.tsx',
    ({ id, embedTokens }) => `/embed/library/${id}#token=${embedTokens.library}`,
    'library',
  ),
  publicPage(
    'src/routes/embed.$part.$workspaceId.tsx',
    ({ id, embedTokens }) => `/embed/webhooks/${id}#token=${embedTokens.webhooks}`,
    'webhooks',
  ),
  publicPage('src/routes/embed.$part.$workspaceId.tsx', ({ id }) => `/embed/library/${id}#token=none`, 'ended'),
  publicPage('src/routes/book.$slug.index.tsx', () => '/book/there-is-none', 'unknown'),
  publicPage(
    'src/routes/book.$slug.booking.tsx',
    ({ slug, booking }) => `/book/${slug}/booking#token=${booking.token}`,
  ),
  publicPage(
    'src/routes/book.$slug.booking.tsx',
    ({ slug, booking }) => `/book/${slug}/booking#token=${booking.cancelledToken}`,
    'cancelled',
  ),
  publicPage('src/routes/book.$slug.booking.tsx', ({ slug }) => `/book/${slug}/booking#token=lnm_new`, 'unconfirmed'),
  publicPage(
    'src/routes/book.$slug.cancel.tsx',
    ({ slug, booking }) => `/book/${slug}/cancel?token=${booking.cancelToken}`,
  ),
  publicPage('pages/open.js', () => '/open#token=lnm_unknown'),
  publicPage('pages/verify-email.js', () => '/verify-email#token=lnm_new'),
  publicPage('pages/reset-password.js', () => '/reset-password#token=lnm_new'),
  publicPage('pages/reset-password.js', () => '/reset-password', 'incomplete'),
  publicPage('pages/invitation.js', ({ invitationLink }) => invitationLink),
  publicPage('pages/sign-in-return.js', () => '/sign-in/return?state=unknown&code=unknown'),
];

/** Files that show no page of their own. */
export const NO_PAGES: readonly string[] = [
  'web/pages/page.js',
  'web/pages/language.js',
  // The frames of the pages below them.
  'web/src/routes/account/route.tsx',
  // The journey of connected apps opens these with an app, and checks them.
  'web/src/routes/account/apps.tsx',
  'web/src/routes/authorize.tsx',
  'web/src/routes/w/$workspaceId/route.tsx',
];

async function askToJoin(page: Page): Promise<void> {
  await page.getByLabel('Name').fill(NAME);
  await page.getByRole('button', { name: 'Ask to join' }).click();
  await page.getByText('A host will let you in').waitFor();
}

/** Joins, or comes back by a reload, and shows a panel. */
async function joinAndShow(page: Page, panel: 'People' | 'Chat'): Promise<void> {
  const join = page.getByRole('button', { name: 'Join', exact: true });
  const show = page.getByRole('button', { name: panel, exact: true });
  await join.or(show).waitFor();
  if (await join.isVisible()) {
    await page.getByLabel('Name').fill(NAME);
    await join.click();
  }
  await show.click();
  await page.getByRole('heading', { name: panel }).waitFor();
}

export function nameOf({ file, state }: SweepPage): string {
  return state === undefined ? file : `${file} (${state})`;
}
