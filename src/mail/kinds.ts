/** The kinds of mail that the service sends, and the data of each. `templates/` has a file for each kind. */
import { DAY_MS, HOUR_MS } from '../core/time.ts';
import type { Language } from '../languages/languages.ts';

/**
 * A link to one of the pages of the service: the path and, after `#token=`, the token. The sender prepends the URL of
 * the service. Create it with `linkTo`.
 */
export type LinkPath = `/${string}#token=${string}`;

/** The path of a page of the service, with or without a token. The sender puts the URL of the service in front. */
export type PagePath = `/${string}`;

/** The URL that is put in front of link paths, without a trailing slash, and the address that sends the mail. */
export type MailSource = { baseUrl: string; address: string };

/** When an action took place (Unix seconds), and where it came from, as far as the service knows. */
export type Origin = { address: string | null; userAgent: string | null; at: number };

/** A change to the sign-in methods of an account. */
export type SignInChange =
  | 'second-factor-on'
  | 'second-factor-off'
  | 'recovery-codes-created'
  | 'recovery-code-used'
  | 'passkey-added'
  | 'passkey-removed'
  | 'provider-linked'
  | 'provider-unlinked';

export type BookingPerson = { name: string; email: string };

/** A booking, as described in mail about it. Times are in Unix seconds. */
export type MailedBooking = {
  /** `uid` and `sequence` identify the entry in the readers' calendars, and its version. */
  uid: string;
  sequence: number;
  changedAt: number;
  title: string;
  startsAt: number;
  endsAt: number;
  /** The time zone in which the reader sees the times. */
  timeZone: string;
  host: BookingPerson;
  guest: BookingPerson;
  /** Where the meeting takes place. Null if the room was deleted. */
  room: PagePath | null;
};

/**
 * What mail about a booking reports. `new-host`: the meeting now has another host; sent to that host and the guest.
 * `passed-on`: the same, sent to the previous host.
 */
export type BookingChange = 'booked' | 'rescheduled' | 'reminder' | 'new-host' | 'passed-on' | 'cancelled';

/** `link` leads the reader to the booking. `language` is that of a guest; absent for English, and in mail to hosts. */
export type BookingMail = {
  change: BookingChange;
  booking: MailedBooking;
  link: PagePath | null;
  language?: Language;
};

/**
 * The data of each kind. Mail to an address that is not verified must not contain text that a stranger can choose.
 * Otherwise anyone could make the service send such text to anybody.
 */
export type MailData = {
  /** To a new account's address. */
  'verify-email': { link: LinkPath };
  /** To the new address that an account has requested. */
  'change-email': { link: LinkPath };
  /** An operator locked the account, or unlocked it. */
  'account-locked': { isLocked: boolean };
  /** To the previous address of an account. */
  'email-changed': { newEmail: string };
  'reset-password': { link: LinkPath };
  /**
   * `removedMethods`: all other ways to sign in were removed too. `keepsAccess`: whether the lasting access of the
   * account remains; absent in mail that an earlier version has queued.
   */
  'password-changed': { by: 'owner' | 'reset-link' | 'operator'; removedMethods?: boolean; keepsAccess?: boolean };
  'new-sign-in': Origin & { method: string };
  'sign-in-methods-changed': { change: SignInChange; name?: string };
  /** `isOfWorkspace`: the key acts for the workspace, not for the person who created it. */
  'api-key-created': { keyName: string; keyPrefix: string; workspaceName: string; isOfWorkspace: boolean };
  /**
   * To the person who created the key. `previousEndsAt` is in Unix seconds; null if the previous key no longer works.
   */
  'api-key-rotated': {
    keyName: string;
    keyPrefix: string;
    workspaceName: string;
    rotatedBy: string;
    previousEndsAt: number | null;
  };
  'ownership-transferred': { workspaceName: string; newOwner: string; isYours: boolean };
  /** To the user of a room, or to the person who started the recording. `link` is null if they are no member. */
  'recording-ready': { roomName: string; title: string | null; recordedAt: number; link: PagePath | null };
  /** `personalOwner`: the owner, if it is the workspace that was created with their account. */
  'workspace-invitation': {
    workspaceName: string;
    personalOwner?: string;
    inviterName: string;
    role: string;
    link: LinkPath;
    language?: Language;
  };
  /** To the guest of a booking that takes effect only if they confirm it before `until`. */
  'confirm-booking': { booking: MailedBooking; link: LinkPath; until: number; language?: Language };
  'booking-for-guest': BookingMail;
  'booking-for-host': BookingMail;
  'reminder-for-guest': BookingMail;
  'reminder-for-host': BookingMail;
  'cancellation-for-guest': BookingMail;
  'cancellation-for-host': BookingMail;
};

export type MailKind = keyof MailData;

/**
 * How many messages of a lane each process sends at a time. No lane waits for another:
 * - `account`: mail for people who have an account. They need it at once, to get in or to stop somebody else.
 * - `confirmation`: mail that strangers cause, with the address of anybody.
 * - `workspace`: all other mail, which can be a lot at once, and which can wait.
 */
export const mailLanes = { account: 2, confirmation: 1, workspace: 2 } as const;

export type MailLane = keyof typeof mailLanes;

/**
 * `maxPerHour`: the maximum number of messages of this kind for one mailbox. `lifetimeMs`: how long the link works.
 * `isOwed`: like a notice, a message of this kind is queued even if too many messages are waiting.
 */
type KindRule = { lane: MailLane; maxPerHour: number; lifetimeMs: number | null; isOwed?: boolean };

const notice: KindRule = { lane: 'account', maxPerHour: 20, lifetimeMs: null };
/**
 * Mail about an existing meeting. Each kind has its own limit, so that a flood of bookings does not block the other
 * kinds.
 */
const ofMeeting = { lane: 'workspace', lifetimeMs: null, isOwed: true } as const;

export const mailKinds: Readonly<Record<MailKind, KindRule>> = {
  'verify-email': { lane: 'confirmation', maxPerHour: 5, lifetimeMs: DAY_MS },
  'change-email': { lane: 'account', maxPerHour: 5, lifetimeMs: DAY_MS },
  'account-locked': notice,
  'email-changed': notice,
  'reset-password': { lane: 'account', maxPerHour: 5, lifetimeMs: HOUR_MS },
  'password-changed': notice,
  'new-sign-in': notice,
  'sign-in-methods-changed': notice,
  'api-key-created': notice,
  'api-key-rotated': notice,
  'ownership-transferred': notice,
  // News that nobody needs after a day.
  'recording-ready': { lane: 'workspace', maxPerHour: 20, lifetimeMs: DAY_MS },
  'workspace-invitation': { lane: 'workspace', maxPerHour: 10, lifetimeMs: 7 * DAY_MS },
  // Anybody can enter the address of a stranger as that of a guest.
  'confirm-booking': { lane: 'confirmation', maxPerHour: 5, lifetimeMs: null },
  'booking-for-guest': { lane: 'workspace', maxPerHour: 20, lifetimeMs: null },
  'booking-for-host': { lane: 'workspace', maxPerHour: 100, lifetimeMs: null },
  'reminder-for-guest': { ...ofMeeting, maxPerHour: 20 },
  'reminder-for-host': { ...ofMeeting, maxPerHour: 100 },
  'cancellation-for-guest': { ...ofMeeting, maxPerHour: 20 },
  'cancellation-for-host': { ...ofMeeting, maxPerHour: 100 },
};

// `as`: the names of the rules are the kinds.
export const allKinds = Object.keys(mailKinds) as readonly MailKind[];

/**
 * The link to a page. The token is in the fragment, which browsers neither send to servers nor include in the Referer
 * header.
 */
export function linkTo(page: `/${string}`, token: string): LinkPath {
  return `${page}#token=${token}`;
}
