import { z } from 'zod';
import { signInRequirements } from '../../auth/sign-in-requirements.ts';
import { nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { roles } from '../../core/roles.ts';
import {
  flag,
  id,
  integerFrom,
  MAX_EMAIL_LENGTH,
  MAX_NAME_LENGTH,
  optional,
  requiredText,
  unixSeconds,
} from '../../core/validation.ts';
import { Branding } from '../branding/public-branding.ts';
import { Member } from '../members/schemas.ts';
import { embedOrigins, MAX_EMBED_ORIGINS } from './embed-origins.ts';

const workspaceName = requiredText(MAX_NAME_LENGTH, 'Name is required')
  .describe('Display name, at most 100 characters')
  .meta({ example: 'Design team' });

const isPersonal = flag.describe('1 for the workspace that is created with each account');

const workspaceFields = z.object({
  id,
  name: z.string(),
  slug: z.string().describe('Unique; derived from the name when the workspace is created; renaming does not change it'),
  owner_id: id.describe('User ID of the owner'),
  created_at: unixSeconds,
});

/** A workspace in a list. */
export const WorkspaceSummary = workspaceFields
  .extend({
    is_personal: isPersonal,
    owner_name: z.string().describe('Tells apart the workspaces named Personal, of which each user has one'),
  })
  .meta({ id: 'WorkspaceSummary' });
export type WorkspaceSummary = z.infer<typeof WorkspaceSummary>;

/** A workspace as the caller sees it. */
export const Workspace = workspaceFields
  .extend({
    media_retention_days: integerFrom(7, 365)
      .nullable()
      .describe('Library items older than this many days are deleted; null keeps them indefinitely'),
    role: z.enum(roles).describe('The role of the caller in the workspace'),
    is_personal: isPersonal,
    embed_origins: z
      .array(z.string())
      .describe('Origins whose pages may show rooms and booking pages of the workspace in a frame'),
  })
  .meta({ id: 'Workspace' });
export type Workspace = z.infer<typeof Workspace>;

export const WorkspaceWithMembers = Workspace.extend({ members: z.array(Member) }).meta({ id: 'WorkspaceWithMembers' });
export type WorkspaceWithMembers = z.infer<typeof WorkspaceWithMembers>;

const requirementText =
  '`second_factor`: members must have proven a second factor in their session, or have signed in with a passkey; ' +
  '`provider`: members must have signed in by an OpenID provider; null: nothing';

export const SetSignInRequirementInput = z
  .object({
    required: z
      .enum(signInRequirements, { error: 'required must be second_factor, provider or null' })
      .nullable()
      .describe(requirementText),
    provider: optional(z.string().max(64)).describe('ID of the OpenID provider, if `required` is `provider`'),
  })
  .meta({ id: 'SetSignInRequirementRequest' });
export type SetSignInRequirementInput = z.infer<typeof SetSignInRequirementInput>;

export const SignInRequirementAnswer = z
  .object({
    required: z.enum(signInRequirements).nullable().describe(requirementText),
    provider: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .describe('The OpenID provider; null if none is required, or if the service no longer has it'),
    satisfied: flag.describe('1 if the session of the caller satisfies it'),
  })
  .meta({ id: 'SignInRequirement' });
export type SignInRequirementAnswer = z.infer<typeof SignInRequirementAnswer>;

export const SetJoinDomainInput = z
  .object({
    domain: z
      .string({ error: 'domain must be a domain such as example.com, or null' })
      .trim()
      .toLowerCase()
      .max(MAX_EMAIL_LENGTH)
      .nullable()
      .describe("The domain of the owner's confirmed address; null: nobody joins by a domain")
      .meta({ example: 'acme.example' }),
  })
  .meta({ id: 'SetJoinDomainRequest' });
export type SetJoinDomainInput = z.infer<typeof SetJoinDomainInput>;

export const JoinDomain = z
  .object({
    domain: z
      .string()
      .nullable()
      .describe('People with a confirmed address of this domain may join; null: nobody joins by a domain'),
    possible_domain: z
      .string()
      .nullable()
      .describe("What `domain` can be: the domain of the owner's address; null if it is not confirmed or a public one"),
    in_effect: flag.describe(
      '1 if people can join: not after the owner or their address has changed to another domain',
    ),
  })
  .meta({ id: 'JoinDomain' });
export type JoinDomain = z.infer<typeof JoinDomain>;

/** A workspace that the caller may join, and is not a member of. */
export const JoinableWorkspace = z
  .object({ id, name: z.string(), owner_name: z.string() })
  .meta({ id: 'JoinableWorkspace' });
export type JoinableWorkspace = z.infer<typeof JoinableWorkspace>;

export const JoinableWorkspaces = z
  .object({ workspaces: z.array(JoinableWorkspace), next_cursor: nextCursor })
  .meta({ id: 'JoinableWorkspaceList' });

export const JoinByDomainInput = z.object({ id: requestedId.describe('Workspace ID') });
export type JoinByDomainInput = z.infer<typeof JoinByDomainInput>;

export const MeetingSettings = z
  .object({
    media: z
      .literal('mesh', { error: 'media must be mesh or null' })
      .nullable()
      .describe(
        '`mesh`: in all rooms, browsers connect to each other, whatever else would carry the meetings; null: a ' +
          'connection of the workspace carries them or, without one, the LiveKit server of the service',
      ),
  })
  .meta({ id: 'MeetingSettings' });
export type MeetingSettings = z.infer<typeof MeetingSettings>;

export const WorkspaceNameInput = z.object({ name: workspaceName }).meta({ id: 'WorkspaceNameRequest' });
export type WorkspaceNameInput = z.infer<typeof WorkspaceNameInput>;

export const WorkspaceChangeInput = z
  .object({
    // `name` may be missing only beside another setting.
    name: workspaceName.optional(),
    embed_origins: optional(embedOrigins).describe(
      `Replaces the origins whose pages may show parts of the workspace in a frame: at most ${MAX_EMBED_ORIGINS}, ` +
        'such as `https://app.example.com`; in development also `http://localhost`, with any port',
    ),
  })
  .refine(({ name, embed_origins }) => name !== undefined || embed_origins !== undefined, {
    error: 'Name is required',
    path: ['name'],
  })
  .meta({ id: 'WorkspaceChangeRequest' });
export type WorkspaceChangeInput = z.infer<typeof WorkspaceChangeInput>;

export const JoinInput = z.object({ token: z.string().describe('The token of the invite link') });
export type JoinInput = z.infer<typeof JoinInput>;

export const InviteTokenInput = JoinInput.meta({ id: 'InviteTokenRequest' });

/** The workspace of an invite link, as shown to anyone who has the link. */
export const InvitePreview = z
  .object({
    workspace_name: z.string(),
    is_personal: flag.describe('1 for the workspace that was created with the account of the owner'),
    owner_name: z.string(),
    invited_by_name: z.string().describe('Who created the link; the owner, if that person may no longer invite people'),
    branding: Branding,
  })
  .meta({ id: 'InvitePreview' });
export type InvitePreview = z.infer<typeof InvitePreview>;

export const InvitePreviewAnswer = z.object({ invite: InvitePreview }).meta({ id: 'InvitePreviewResponse' });

export const Invite = z
  .object({
    token: z.string().describe('Stays the same until the link is revoked or a member is removed by another member'),
    url: z.string().describe('The link to share: `{app_url}/join/<token>`'),
  })
  .meta({ id: 'Invite' });
export type Invite = z.infer<typeof Invite>;

const UsageOfQuota = z
  .object({
    used: integerFrom(0),
    quota: integerFrom(1).nullable().describe('The maximum; null if there is none'),
  })
  .meta({ id: 'QuotaUsage' });

export const Usage = z
  .object({
    workspaces: UsageOfQuota.describe('Workspaces that the caller owns'),
    members: UsageOfQuota,
    rooms: UsageOfQuota,
    labels: UsageOfQuota,
    items: UsageOfQuota.describe('Library items, with those in the trash'),
    bytes: UsageOfQuota.describe('Bytes in the files of library items and recordings, including files from guests'),
    contacts: UsageOfQuota,
    api_keys: UsageOfQuota,
    webhooks: UsageOfQuota,
    connections: UsageOfQuota.describe('Connections to meeting providers'),
  })
  .meta({ id: 'WorkspaceUsage', description: 'How much of each quota is used' });
export type Usage = z.infer<typeof Usage>;

export const UsageAnswer = z.object({ usage: Usage }).meta({ id: 'WorkspaceUsageResponse' });
export const WorkspacesAnswer = z
  .object({ workspaces: z.array(WorkspaceSummary), next_cursor: nextCursor })
  .meta({ id: 'WorkspaceList' });
export const WorkspaceAnswer = z.object({ workspace: Workspace }).meta({ id: 'WorkspaceResponse' });
export const WorkspaceReadAnswer = z
  .object({
    workspace: WorkspaceWithMembers,
    next_cursor: nextCursor.describe(
      'Send it as `cursor` to get the next page of members. Absent if there are no more',
    ),
  })
  .meta({ id: 'WorkspaceWithMembersResponse' });
