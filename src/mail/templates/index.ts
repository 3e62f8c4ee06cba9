/** The templates of all kinds of mail. */
import type { MailData, MailKind } from '../kinds.ts';
import { accountLocked } from './account-locked.ts';
import { apiKeyCreated } from './api-key-created.ts';
import { apiKeyRotated } from './api-key-rotated.ts';
import { bookingForGuest, bookingForHost } from './booking.ts';
import { changeEmail } from './change-email.ts';
import { confirmBooking } from './confirm-booking.ts';
import type { MailContent } from './content.ts';
import { emailChanged } from './email-changed.ts';
import { newSignIn } from './new-sign-in.ts';
import { ownershipTransferred } from './ownership-transferred.ts';
import { passwordChanged } from './password-changed.ts';
import { recordingReady } from './recording-ready.ts';
import { resetPassword } from './reset-password.ts';
import { signInMethodsChanged } from './sign-in-methods-changed.ts';
import { verifyEmail } from './verify-email.ts';
import { workspaceInvitation } from './workspace-invitation.ts';

export const templates: { readonly [Kind in MailKind]: (data: MailData[Kind]) => MailContent } = {
  'verify-email': verifyEmail,
  'change-email': changeEmail,
  'account-locked': accountLocked,
  'email-changed': emailChanged,
  'reset-password': resetPassword,
  'password-changed': passwordChanged,
  'new-sign-in': newSignIn,
  'sign-in-methods-changed': signInMethodsChanged,
  'api-key-created': apiKeyCreated,
  'api-key-rotated': apiKeyRotated,
  'ownership-transferred': ownershipTransferred,
  'recording-ready': recordingReady,
  'workspace-invitation': workspaceInvitation,
  'confirm-booking': confirmBooking,
  'booking-for-guest': bookingForGuest,
  'booking-for-host': bookingForHost,
  'reminder-for-guest': bookingForGuest,
  'reminder-for-host': bookingForHost,
  'cancellation-for-guest': bookingForGuest,
  'cancellation-for-host': bookingForHost,
};
