import { changeBranding, readBranding, readLogo, removeLogo, setLogo } from '../features/branding/branding.ts';
import { BrandingAnswer, BrandingInput, LogoParams } from '../features/branding/schemas.ts';
import { logoTypes, MAX_LOGO_BYTES } from '../media/logo-image.ts';
import { callPublicly } from '../trpc/access.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';
import { rawOperation, WorkspaceParams, workspaceMember } from '../trpc/raw-operation.ts';

const tags = ['Workspaces'];

/** The name of a logo changes with the logo. */
const KEPT = 'public, max-age=31536000, immutable';

/** Somebody who opens the URL sees the image, and nothing in it may run. */
const SANDBOX = "default-src 'none'; sandbox; frame-ancestors 'none'";

export const brandingRouter = router({
  read: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/branding',
        tags,
        summary: 'Read the branding',
        successDescription: 'The branding',
        description: 'Any member. How booking pages, rooms and mail look to guests.',
      },
    })
    .output(BrandingAnswer)
    .query(async ({ ctx }) => ({ branding: await readBranding(ctx.services, ctx.actor, ctx.origin) })),

  change: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/branding',
        tags,
        summary: 'Change the branding',
        successDescription: 'The new branding',
        description: 'Owner only. Fields that are left out stay as they are; null removes a value.',
      },
    })
    .input(BrandingInput)
    .output(BrandingAnswer)
    .mutation(async ({ ctx, input }) => ({
      branding: await changeBranding(ctx.services, ctx.actor, input, ctx.origin),
    })),

  removeLogo: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/branding/logo',
        tags,
        summary: 'Remove the logo',
        successDescription: 'The branding without a logo',
        description: 'Owner only. Does nothing if there is no logo.',
      },
    })
    .output(BrandingAnswer)
    .mutation(async ({ ctx }) => ({ branding: await removeLogo(ctx.services, ctx.actor, ctx.origin) })),
});

export const brandingSetLogo = rawOperation({
  name: 'branding.setLogo',
  method: 'PUT',
  path: '/api/workspaces/{id}/branding/logo',
  params: WorkspaceParams,
  tags,
  summary: 'Set the logo',
  description:
    'Owner only. The body is a PNG, JPEG or WebP of at most 256 kB (262,144 bytes) and 2,000 × 2,000 pixels, ' +
    'whatever its content type. The structure of the image is verified, and its metadata is removed. Replaces an ' +
    'earlier logo. Anyone can read the logo.',
  access: workspaceMember('owner'),
  request: { kind: 'bytes', maxBytes: MAX_LOGO_BYTES, types: logoTypes },
  response: { kind: 'json', schema: BrandingAnswer, description: 'The branding with its new logo' },
  handle: async ({ services, caller, body, origin }) => ({ branding: await setLogo(services, caller, body, origin) }),
});

export const brandingLogo = rawOperation({
  name: 'branding.logo',
  method: 'GET',
  path: '/api/logos/{name}',
  params: LogoParams,
  tags,
  summary: 'Read a logo',
  description:
    'For anyone. Returns the image at `logo_url`, which changes with the logo, so that browsers may keep it.',
  access: {
    credential: { schemes: {} },
    async admit({ context, params }) {
      return { context, name: params.name ?? '' };
    },
  },
  request: { kind: 'none' },
  response: { kind: 'image', types: logoTypes, description: 'The image' },
  refusals: [404],
  async handle({ services, caller: { context, name }, setHeader }) {
    const subject = { name: `logo:${name}`, isSecret: true };
    const { type, bytes } = await callPublicly(context, subject, () => readLogo(services, name));
    setHeader('content-type', type);
    setHeader('cache-control', KEPT);
    setHeader('content-security-policy', SANDBOX);
    return bytes;
  },
});
