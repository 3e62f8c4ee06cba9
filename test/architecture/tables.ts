/**
 * Which one folder writes each table: inserts, updates and deletes its rows. `tables.test.ts` finds the writers in the
 * source and enforces this. Triggers and cascades are not part of it: the database keeps what they maintain consistent.
 * `a trigger` is for a table that nothing else writes. A new table gets a row here.
 */
import type { Part } from './layers.ts';

type Writers = {
  /** The folder that writes the table: a layer or a feature, as in `layers.ts`. */
  by: Part | 'a trigger';
  /** Other files that write it, below `src`, and why they do. */
  except?: Readonly<Record<string, string>>;
};

const erasure = 'erases a person from all tables in one transaction';
const lostProof = 'apps and feeds lose what their person no longer has, together with the sessions';
const accountEnd = 'ends what an account can do in all tables, with the account locked; the features import this one';
const cascade = 'deletes the account or the workspace, and what does not go with it by a cascade';
const oneStatement = 'is part of the one statement that lets a participant join';
const ownSetting = 'changes its own setting, which is a column of the workspace';

export const tables: Readonly<Record<string, Writers>> = {
  account_events: { by: 'audit' },
  account_history: { by: 'a trigger' },
  account_tokens: { by: 'auth' },
  api_keys: {
    by: 'features/api-keys',
    except: {
      'auth/find-api-key.ts': 'stores when a key was last used, in the query that identifies the caller',
      'features/auth/account.ts': accountEnd,
      'features/auth/end-access.ts': accountEnd,
      'features/members/end-membership.ts': 'revokes the keys of a member who leaves, with the workspace locked',
    },
  },
  audit_chains: { by: 'audit' },
  audit_log: { by: 'audit' },
  booking_pages: { by: 'features/booking-pages' },
  bookings: {
    by: 'features/bookings',
    except: {
      'features/booking-mails/end-bookings.ts': 'cancels the meeting of a deleted room; `bookings` imports `rooms`',
      'features/booking-mails/remind.ts': 'a job: takes reminders that are due, and deletes bookings nobody confirmed',
      'features/booking-pages/host-calendar.ts': 'ends unconfirmed bookings, in the lock on the calendar',
      'features/booking-pages/reassign-booking-pages.ts': 'the bookings pass to the new host together with the page',
      'features/people/erase-statements.ts': erasure,
    },
  },
  calendar_feeds: {
    by: 'features/calendar-feed',
    except: { 'features/auth/end-access.ts': accountEnd, 'features/auth/proofs.ts': lostProof },
  },
  contact_days: { by: 'db' },
  contact_event_days: { by: 'db' },
  contact_event_subjects: { by: 'db' },
  contact_events: {
    by: 'features/contacts',
    except: {
      'features/participants/visit-events.ts': oneStatement,
      'features/people/erase-statements.ts': erasure,
    },
  },
  contacts: { by: 'features/contacts', except: { 'features/people/erase-statements.ts': erasure } },
  counter_changes: { by: 'db' },
  created_store_ids: { by: 'storage' },
  discarded_objects: {
    by: 'storage',
    except: {
      'features/media-jobs/media-queue.ts':
        'discards the output of the attempt before in the statement that names a new one',
    },
  },
  events: {
    by: 'events',
    except: {
      'features/people/erase-statements.ts': erasure,
      'webhook-delivery/relay.ts': 'numbers the events that it relays',
    },
  },
  idempotency_keys: { by: 'db' },
  ingest_events: {
    by: 'features/meeting-providers',
    except: {
      'features/people/erase-statements.ts': erasure,
      'key-rotation/pending-callbacks.ts': 'seals the links again with the newest key',
    },
  },
  invitations: {
    by: 'features/invitations',
    except: {
      'features/auth/end-access.ts': accountEnd,
      'features/auth/registration.ts': 'spends an invitation in the transaction that creates an account',
      'features/members/revoke-invitations.ts':
        'revokes what a leaving member has sent; `invitations` imports `members`',
      'features/people/erase-statements.ts': erasure,
    },
  },
  item_labels: { by: 'features/library' },
  known_devices: { by: 'features/auth' },
  labels: { by: 'features/labels' },
  library_items: { by: 'features/library' },
  mail_messages: { by: 'mail' },
  livekit_egresses: {
    by: 'features/meeting-providers',
    except: { 'features/recordings/egress.ts': 'adds the egress in the transaction that starts the recording' },
  },
  livekit_rooms: {
    by: 'features/meeting-providers',
    except: { 'features/livekit/rooms.ts': 'adds the room with its first token, and what a host does' },
  },
  media_jobs: {
    by: 'features/media-jobs',
    except: { 'media/add-media-job.ts': 'adds the job in the transaction that stores a file, below all features' },
  },
  meeting_connections: {
    by: 'features/meeting-providers',
    except: { 'features/auth/end-access.ts': accountEnd },
  },
  meeting_ends: { by: 'features/meeting-providers' },
  meeting_pages: { by: 'features/peers' },
  meeting_signals: { by: 'features/peers' },
  members: {
    by: 'features/members',
    except: { 'features/workspaces/create-workspace.ts': 'a workspace is created together with its owner' },
  },
  oauth_clients: { by: 'features/apps' },
  oauth_grants: {
    by: 'features/apps',
    except: {
      'auth/find-app-grant.ts': 'stores when an app was last used, in the query that identifies the caller',
      'features/auth/end-apps.ts': accountEnd,
      'features/auth/proofs.ts': lostProof,
    },
  },
  oauth_tokens: { by: 'features/apps' },
  object_store_id: { by: 'storage' },
  openid_identities: {
    by: 'features/openid',
    except: { 'features/auth/proofs.ts': accountEnd },
  },
  openid_requests: { by: 'features/openid' },
  participant_connections: { by: 'features/participants' },
  participants: { by: 'features/participants', except: { 'features/people/erase-statements.ts': erasure } },
  passkey_challenges: { by: 'features/passkeys' },
  passkeys: {
    by: 'features/passkeys',
    except: {
      'features/auth/end-access.ts': accountEnd,
      'features/auth/sign-in-methods.ts': accountEnd,
    },
  },
  rate_limits: { by: 'auth' },
  recording_copies: {
    by: 'features/meeting-providers',
    except: {
      'features/recordings/recording-lifecycle.ts':
        'ends the copy of a recording that has its file or has failed; `meeting-providers` imports `recordings`',
    },
  },
  recording_deletions: { by: 'features/recordings' },
  recordings: {
    by: 'features/recordings',
    except: {
      'features/meeting-providers/ingest/apply-recording-event.ts':
        'merges the facts of a callback, in whatever order they arrive, in the statement that locks the recording',
      'features/meeting-providers/recording-copies/copy-queue.ts':
        'stores why a copy failed, in the transaction that takes it out of the queue',
    },
  },
  recovery_codes: { by: 'features/auth' },
  embed_tokens: { by: 'features/embed-tokens', except: { 'features/auth/end-access.ts': accountEnd } },
  removed_members: { by: 'features/members' },
  room_passes: {
    by: 'features/room-passes',
    except: { 'features/people/erase-statements.ts': erasure, 'features/auth/end-access.ts': accountEnd },
  },
  rooms: {
    by: 'features/rooms',
    except: {
      'features/participants/joining.ts': oneStatement,
      'features/people/erase-statements.ts': erasure,
    },
  },
  scheduled_tasks: { by: 'jobs' },
  second_factors: { by: 'features/auth' },
  sessions: {
    by: 'features/auth',
    except: { 'auth/identify.ts': 'stores when a session was last used, in the query that identifies the caller' },
  },
  slug_suffixes: { by: 'db' },
  trash_entries: { by: 'features/trash' },
  unmatched_callbacks: {
    by: 'features/meeting-providers',
    except: { 'features/people/erase-statements.ts': erasure },
  },
  uploads: { by: 'features/uploads' },
  users: {
    by: 'features/auth',
    except: {
      'features/passkeys/register-passkey.ts': 'gives a user the handle that passkeys know them by, with the first one',
      'runtime/demo-account.ts': 'the demo account has a verified address, to which no mail is sent',
    },
  },
  webhook_deliveries: {
    by: 'webhook-delivery',
    except: { 'features/people/erase-statements.ts': erasure },
  },
  webhook_leases: { by: 'webhook-delivery' },
  webhook_messages: {
    by: 'webhook-delivery',
    except: {
      'backup/restore-backup.ts': 'makes the relay queue the messages again, because a backup has no jobs',
      'features/people/erase-statements.ts': erasure,
      'features/webhooks/send-test.ts': 'the test message belongs to no event, so the relay does not insert it',
    },
  },
  webhooks: {
    by: 'features/webhooks',
    except: {
      'features/auth/end-access.ts': accountEnd,
      'webhook-delivery/pending-messages.ts': 'marks a webhook whose messages the relay is to cancel',
      'webhook-delivery/webhook-health.ts': 'stores how the attempts went, in the transaction that records them',
    },
  },
  workspaces: {
    by: 'features/workspaces',
    except: {
      'auth/invite-token.ts': 'seals the links that earlier versions have stored as they are, when the service starts',
      'db/counters.ts': 'adds the pending changes to the counters',
      'features/auth/account.ts': cascade,
      'features/auth/end-access.ts': accountEnd,
      'features/branding/branding.ts': ownSetting,
      'features/members/end-membership.ts':
        'ends the invite link when a member is removed; `workspaces` imports `members`',
      'features/members/members.ts': 'moves the ownership, together with the roles of both members',
      'features/retention/recording-retention.ts': ownSetting,
      'features/retention/retention.ts': ownSetting,
    },
  },
  // Statements about a table that is chosen while the service runs.
  '*': {
    by: 'key-rotation',
    except: {
      'features/retention/prune-people.ts': 'a job: deletes what names people and is older than the policy allows',
      'jobs/lease-queue.ts': 'leases rows of the queues that features declare, and ends their leases',
    },
  },
};
